import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { randomBytes } from 'node:crypto'
import { acquireMachineLock } from '../../src/engine/jobs/machine-lock.ts'

/**
 * A process that takes turns: `node machine-lock-process.mjs <directory> <log> <name> <alone|beside> <times>`. It writes down when
 * it is in and out again; with `hold` for times it stays in until a line comes in.
 */
const [machineDir = '', log = '', name = '', how = '', times = '1'] = process.argv.slice(2)
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const say = (line: string) => void process.stdout.write(`${line}\n`)
const machine = {
  machineDir,
  clock: {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms / 50)),
  },
  random: { hex: (bytes: number) => randomBytes(bytes).toString('hex'), fraction: () => Math.random() },
  progress: { say },
}
const never = new AbortController().signal
const rounds = times === 'hold' ? 1 : Number(times)
for (let round = 0; round < rounds; round++) {
  const leave = await acquireMachineLock(machine, { alone: how === 'alone', what: `campaign ${name}` }, never)
  appendFileSync(log, `in ${name}\n`)
  if (times === 'hold') {
    say('in')
    await lines.next()
  } else await new Promise(resolve => setImmediate(resolve))
  appendFileSync(log, `out ${name}\n`)
  leave?.()
}
process.exit(0)
