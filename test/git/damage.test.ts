import { execFileSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { getScratchDir } from '../../src/git/bare-repository.ts'
import { findDeepDamage, isPossibleDamage } from '../../src/git/damage.ts'
import { open, openFetched, scratch, userRepository } from './scratch.ts'

it('finds no damage in a repository that was never fetched', async () => {
  expect(await findDeepDamage(join(scratch(), 'repository.git'), {})).toBeNull()
})

it('opens a repository without its empty folders, and takes an empty file for no tip', async () => {
  const dir = join(scratch(), 'own.git')
  const { repository, main } = await openFetched({ remote: userRepository().dir, dir })
  rmSync(getScratchDir(dir), { recursive: true })
  const again = await open({ remote: 'https://host.invalid/x.git', dir })
  expect(again.readTrackedTip('refs/heads/main')).toBe(main)
  const [name = ''] = readdirSync(join(dir, 'refs/winnow/remote'))
  writeFileSync(join(dir, 'refs/winnow/remote', name), '')
  expect(repository.readTrackedTip('refs/heads/main')).toBeNull()
})

it('does not take a missing password for damage', () => {
  const refusal = (what: string) =>
    new Error(`fatal: could not read ${what} for 'https://host': terminal prompts disabled`)
  expect(['Username', 'Password'].map(what => isPossibleDamage(refusal(what)))).toEqual([false, false])
  expect(isPossibleDamage(new Error('fatal: could not read 3fd1e04'))).toBe(true)
})

it('does not take the words of a verdict for damage', () => {
  expect(isPossibleDamage(new UserError('exp-002 cannot be retried. Broken: gate tests failed'))).toBe(false)
  expect(isPossibleDamage(new Error('error: refs/heads/main: broken link from commit 3fd1e04'))).toBe(true)
})

it('does not take an empty tree that git never stores for damage', async () => {
  const dir = join(scratch(), 'repository.git')
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  git('init', '--quiet', '--bare', dir)
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
  const empty = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
  const commit = git('-C', dir, ...identity, 'commit-tree', '-m', 'empty', empty)
  git('-C', dir, 'update-ref', 'refs/heads/main', commit)
  expect(await findDeepDamage(dir, {})).toBeNull()
})
