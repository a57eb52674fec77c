/**
 * An error that the page has a message screen for.
 * @param {string} code Such as "model-shape"; see messages.js.
 * @param {string} message
 * @param {unknown} [cause]
 * @returns {Error & {code: string}}
 */
export function failure(code, message, cause) {
  return Object.assign(new Error(message, { cause }), { code });
}
