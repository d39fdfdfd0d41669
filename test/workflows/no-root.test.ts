import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { WORKFLOW } from '../../src/init/workflows/files.ts'
import { scratch } from '../git/scratch.ts'
import { parsedWorkflow } from './parsed.ts'
import { written } from './written.ts'

const ASKING = ['propose: [{ use: command, command: ./ideas }]']

function giveUpScript(): string {
  const text = written([ASKING]).find(({ path }) => path === WORKFLOW)?.text ?? ''
  const { propose } = parsedWorkflow(text).jobs
  return propose?.steps.find(({ name }) => name === 'Drop root')?.run ?? ''
}

/** A machine whose sudo writes down what it is asked for, and follows a rule in that file or not. */
function givingUp(script: string, follows: boolean) {
  const room = scratch('winnow-root-')
  mkdirSync(join(room, 'bin'))
  const asked = join(room, 'asked')
  const sudo = [
    '#!/bin/sh',
    `printf '%s\\n' "$*" >> ${asked}`,
    `[ "$1" = tee ] && cat > ${room}/rule`,
    `[ "$1" = -n ] && [ -e ${room}/rule ] && exit ${follows ? 1 : 0}`,
    'exit 0',
  ]
  writeFileSync(join(room, 'bin/sudo'), `${sudo.join('\n')}\n`)
  chmodSync(join(room, 'bin/sudo'), 0o755)
  const { status } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    env: { PATH: `${join(room, 'bin')}:${process.env['PATH'] ?? ''}` },
    encoding: 'utf8',
  })
  return { status, rule: readFileSync(join(room, 'rule'), 'utf8'), asked: readFileSync(asked, 'utf8') }
}

describe('giving up the right to become root', () => {
  it('writes the rule that comes last, after the sockets by which one could become it too are closed', () => {
    const { status, rule, asked } = givingUp(giveUpScript(), true)
    expect(status).toBe(0)
    expect(rule).toMatch(/^\S+ ALL=\(ALL:ALL\) !ALL\n$/)
    expect(asked).toContain('chmod 600 /var/run/docker.sock')
    expect(asked.trimEnd().split('\n').slice(-2)).toEqual(['tee /etc/sudoers.d/zz-winnow', '-n true'])
  })

  it('ends the job where it did not help', () => {
    expect(givingUp(giveUpScript(), false).status).toBe(1)
  })
})
