/** For tests/examples/yolo11n/page/test_camera.py: `feed(count)` has the page detect in many frames. */
Object.assign(window, {
  /** @param {number} count @returns {Promise<string>} Which frame's box is wrong; "" if none. */
  async feed(count) {
    const { demo } = /** @type {any} */ (window);
    const canvas = new OffscreenCanvas(320, 240);
    const context = canvas.getContext("2d");
    for (let k = 0; k < count; k++) {
      const [x, y] = [60 + ((7 * k) % 180), 50 + ((5 * k) % 100)];
      context.fillStyle = "rgb(70, 80, 110)";
      context.fillRect(0, 0, 320, 240);
      context.fillStyle = "rgb(0, 220, 40)";
      context.fillRect(x, y, 40, 40);
      const bitmap = await createImageBitmap(canvas);
      const { detections } = await demo.detectImage(bitmap);
      bitmap.close();
      if (detections.length !== 1 || Math.abs(detections[0].x1 - x) > 4) return `frame ${k}`;
    }
    return "";
  },
});
