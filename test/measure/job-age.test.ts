import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readJobAge } from '../../src/measure/machine.ts'

/** Processes as Linux shows them: name, parent, start in hundredths of a second after boot. */
function procWith(processes: Record<number, [name: string, parent: number, started: number]>): string {
  const proc = mkdtempSync(join(tmpdir(), 'winnow-proc-'))
  writeFileSync(join(proc, 'uptime'), '1000.50 3000.00\n')
  for (const [pid, [name, parent, started]] of Object.entries(processes)) {
    mkdirSync(join(proc, pid))
    const fields = [parent, ...Array.from({ length: 17 }, () => 0), started, 0, 0]
    writeFileSync(join(proc, pid, 'stat'), `${pid} (${name}) S ${fields.join(' ')}\n`)
  }
  return proc
}

describe('the age of a job of GitHub Actions', () => {
  it('is the age of the worker that the runner started for it', () => {
    const proc = procWith({
      2: ['Runner.Listener', 1, 100],
      30: ['Runner.Worker', 2, 95_050],
      40: ['node (of a step)', 30, 99_000],
    })
    expect(readJobAge(40, proc)).toBe(50)
  })

  it('is unknown outside a job, and without /proc', () => {
    const proc = procWith({ 30: ['bash', 1, 100], 40: ['node', 30, 200] })
    expect(readJobAge(40, proc)).toBeNull()
    expect(readJobAge(40, join(proc, 'none'))).toBeNull()
  })
})
