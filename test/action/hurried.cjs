// Loaded before the bundle: the seconds that its client waits between writes spare GitHub, and no test. Those of writes
// that wait in line add up. Nothing else in a job waits by this function: what is too late is told by signals.
const wait = globalThis.setTimeout
globalThis.setTimeout = (work, ms, ...rest) => wait(work, ms >= 500 && ms <= 60_000 ? ms / 50 : ms, ...rest)
