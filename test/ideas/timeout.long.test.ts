import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { askAgent } from '../../src/ideas/agent.ts'
import { scratch } from '../git/scratch.ts'
import { useRepository } from './incumbent.ts'

const startWith = useRepository()

/** Live processes whose command line names this text. */
function processesNaming(text: string): string[] {
  return readdirSync('/proc').filter(pid => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/cmdline`)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text)
    } catch {
      // It ended while we looked.
      return false
    }
  })
}

it.runIf(process.platform === 'linux')(
  'a program that ignores TERM is killed with all its processes',
  async () => {
    const { repository, main } = await startWith()
    const workDir = scratch()
    const script = resolve('fixtures/proposers/hangs.sh')
    const asked = await askAgent({
      repo: repository,
      incumbent: main,
      name: 'agent',
      command: `sh '${script}' '${workDir}'`,
      brief: '',
      timeoutSeconds: 1,
      workDir,
      env: { PATH: process.env['PATH'] ?? '' },
      signal: new AbortController().signal,
      now: () => 0,
      monotonic: () => performance.now(),
    })
    expect(asked).toEqual({ ok: false, reason: 'agent was ended after 1 s (timeout_seconds)' })
    expect(existsSync(join(workDir, 'started.txt'))).toBe(true)
    expect(processesNaming(workDir)).toEqual([])
  },
)
