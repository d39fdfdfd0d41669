import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PATH } from '../measure/processes.ts'
import { scratch } from '../git/scratch.ts'
import { IN_PROCESS, onGithub } from './a-campaign.ts'

test('a wake-up that has nothing to do opens the repository twice, and reads what is in it once', async () => {
  const { github, token } = await onGithub()
  const first = await IN_PROCESS.ticking(github, token)
  expect(first.code, first.stdout).toBe(0)

  const dir = scratch('winnow-counted-')
  const log = join(dir, 'log')
  // Logs the command of git, which follows its settings.
  const program = `#!/bin/sh
for word; do
  case $word in -c|*=*) ;; *) echo "$word" >> ${log}; break ;; esac
done
PATH=${PATH} exec git "$@"
`
  writeFileSync(join(dir, 'git'), program)
  chmodSync(join(dir, 'git'), 0o755)
  const idle = await IN_PROCESS.ticking(github, token, { PATH: `${dir}:${PATH}` })
  expect(idle.result).toMatchObject({ campaigns: [{ campaign: 'size', waiting: { for: 'orders' } }] })

  const commands = readFileSync(log, 'utf8').trimEnd().split('\n')
  const count = (name: string) => commands.filter(each => each === name).length
  // What the clone is, once; the names of branches, the campaigns, and then those of one campaign.
  expect({ inspected: count('symbolic-ref'), listed: count('ls-remote'), fetched: count('fetch') }).toEqual({
    inspected: 1,
    listed: 4,
    fetched: 3,
  })
})
