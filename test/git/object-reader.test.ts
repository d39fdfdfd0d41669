import { spawnSync } from 'node:child_process'
import { writeFileSync, chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildLocalIsolation } from '../../src/git/isolation.ts'
import { ObjectReader } from '../../src/git/object-reader.ts'
import { scratch, userRepository } from './scratch.ts'

/** A git that dies after `lives` answers, in front of the real one. */
function dyingGit(lives: number): string {
  const bin = join(scratch(), 'bin')
  mkdirSync(bin)
  const real = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim()
  const script = `#!/bin/sh\nhead -n ${lives} | ${real} "$@"\necho 'reader died' >&2\nexit 1\n`
  writeFileSync(join(bin, 'git'), script)
  chmodSync(join(bin, 'git'), 0o755)
  return `${bin}:${process.env['PATH'] ?? ''}`
}

function readerOf(dir: string, path: string): ObjectReader {
  const reader = new ObjectReader(buildLocalIsolation(dir, { PATH: path }))
  onTestFinished(() => reader.close())
  return reader
}

describe('the long-lived reader', () => {
  it('is started anew when it died, and the question asked again', async () => {
    const user = userRepository()
    const oid = user.git('rev-parse', 'HEAD')
    const reader = readerOf(user.dir, dyingGit(1))
    for (let asked = 0; asked < 3; asked++) expect((await reader.info(oid))?.type).toBe('commit')
  })

  it('gives up with its last words when a new one dies too', async () => {
    const user = userRepository()
    const reader = readerOf(user.dir, dyingGit(0))
    await expect(reader.read(user.git('rev-parse', 'HEAD'))).rejects.toThrow('reader died')
  })

  it('answers nothing after it was closed', async () => {
    const user = userRepository()
    const reader = readerOf(user.dir, process.env['PATH'] ?? '')
    await reader.info(user.git('rev-parse', 'HEAD'))
    await reader.close()
    await expect(reader.read('a'.repeat(40))).rejects.toThrow('closed')
  })
})
