/** The bundle of worker.js, which tools/build_demo.py puts before that of main.js. */
declare const WORKER_TEXT: string;
