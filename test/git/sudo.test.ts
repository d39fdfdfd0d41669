import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { inspectCheckout } from '../../src/git/work-tree.ts'
import { isRoot } from '../measure/throw-away-users.ts'
import { userRepository } from './scratch.ts'

describe.skipIf(!isRoot)('root, in a repository of somebody else', () => {
  it('reads it where it was told whose it is, and only then', async () => {
    const { dir } = userRepository()
    execFileSync('chown', ['-R', '12345:12345', dir])
    const env = { PATH: process.env['PATH'] ?? '' }
    await expect(inspectCheckout(dir, env)).rejects.toThrow('is not in a git repository')
    await expect(inspectCheckout(dir, { ...env, SUDO_UID: '54321' })).rejects.toThrow(
      'is not in a git repository',
    )
    expect(await inspectCheckout(dir, { ...env, SUDO_UID: '12345' })).toMatchObject({ topLevel: dir })
  })
})
