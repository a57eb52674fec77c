/** The bundle of worker.js, which tools/build_demo.py puts before that of main.js. */
declare const WORKER_TEXT: string;
/** The bundle of teaching.js, which tools/build_demo.py puts before that of panel.js. */
declare const LESSON_TEXT: string;
