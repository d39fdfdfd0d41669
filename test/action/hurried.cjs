// Loaded before the bundle: the seconds that its client waits between writes spare GitHub, and no test.
const wait = globalThis.setTimeout
globalThis.setTimeout = (work, ms, ...rest) => wait(work, ms >= 500 && ms <= 5_000 ? ms / 50 : ms, ...rest)
