// Loaded before the bundle: the seconds that its client waits between writes spare GitHub, and no test. Those of writes
// that wait in line add up. A remote is given up by this function as well, 60 s after its last byte: `a-runner.ts` asks for
// more than is hurried here, or a busy machine would be taken for a remote that hangs.
const wait = globalThis.setTimeout
globalThis.setTimeout = (work, ms, ...rest) => wait(work, ms >= 500 && ms <= 60_000 ? ms / 50 : ms, ...rest)
