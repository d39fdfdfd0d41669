import { readdirSync, readFileSync } from 'node:fs'
import type { Launch } from '../../src/measure/process/launch.ts'
import { scratch } from './scratch.ts'

export const CLINGING = new URL('../../fixtures/harness/clinging.pl', import.meta.url).pathname
export const PATH = process.env['PATH'] ?? '/usr/bin:/bin'

/** Live processes, of whatever session or parent, that carry this text on their command line. */
export function carrying(text: string): number[] {
  return readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name)) return []
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

export function aLaunch(command: string, rest: Partial<Launch> = {}): Launch {
  const dir = scratch()
  return {
    command,
    cwd: dir,
    env: { PATH },
    stdout: `${dir}/stdout`,
    stderr: `${dir}/stderr`,
    timeoutSeconds: 30,
    signal: new AbortController().signal,
    ...rest,
  }
}
