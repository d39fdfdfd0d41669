import { describe, expect, it } from 'vitest'
import { createSshKey, type SshKey, writeAllowedSigners } from '../audit/keys.ts'
import { scratch } from '../git/scratch.ts'
import { commandsOn } from '../page-commands.ts'
import { clonedProject, FILES, type Project, SPEC } from './project.ts'

/** A person who has set git up as docs/attestation.md says. */
function signingProject(spec: string): Project & { remote: (...args: string[]) => string; key: SshKey } {
  const person = clonedProject({ ...FILES, '.winnow/size.yaml': spec })
  const root = scratch()
  const key = createSshKey(root, 'ada')
  person.git('config', 'user.signingkey', `${key.file}.pub`)
  person.git('config', 'gpg.format', 'ssh')
  person.git('config', 'gpg.ssh.allowedSignersFile', writeAllowedSigners(root, { 'ada@example.org': key }))
  return { ...person, key }
}

/** The words without the counts. */
function shape(line: string): string {
  return line.replaceAll(/\d+/g, 'N')
}

describe('a ledger that is signed', () => {
  it('is attested as docs/attestation.md shows', async () => {
    const person = signingProject(`${SPEC}ledger: { sign: ssh }\n`)
    await person.winnow('run')
    for (const { command, output, exit } of commandsOn('docs/attestation.md')) {
      const { code, out } = await person.winnow(...command.split(' ').slice(1))
      expect(code, out).toBe(exit)
      expect(out.split('\n').map(shape)).toEqual(expect.arrayContaining(output.map(shape)))
    }
  })

  it('fails to be written by a person without a key, who learns what to do', async () => {
    const person = signingProject(`${SPEC}ledger: { sign: ssh }\n`)
    await person.winnow('run')
    const before = person.refs()
    person.git('config', '--unset', 'user.signingkey')
    const { code, err } = await person.winnow('note', 'a word')
    expect([code, err]).toEqual([2, expect.stringContaining('git config user.signingkey')])
    expect(err).toContain('git has no key to sign with (ssh)')
    expect(person.refs()).toBe(before)
  })
})

describe('winnow anchor', () => {
  it('audits, signs and pushes a tag, by which a new clone notices another ledger', async () => {
    const person = signingProject(SPEC)
    await person.winnow('run')
    expect(await person.winnow('audit', '--require-attested')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^Not attested: (\d+) of \1 events\.$/m),
    })
    const dry = await person.winnow('anchor', '--dry-run')
    expect([dry.code, person.remote('tag', '--list')]).toEqual([0, ''])
    expect(dry.out).toContain('refs/tags/optimize-anchor/size/')
    const { code, out } = await person.winnow('anchor')
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^Signed and pushed the tag optimize-anchor\/size\/\d+-[0-9a-f]{12}: it vouches for \d+ events of size\.$/m,
      ),
    ])
    expect((await person.winnow('anchor')).out).toContain('already vouches for all')
    expect((await person.winnow('audit', '--require-attested')).code).toBe(0)
    expect(await person.json('audit', '--require-attested')).toMatchObject({
      ok: true,
      attestation: { verified: true, unattested: 0, signers: ['ada@example.org'] },
    })
  })

  it('signs nothing if the audit finds a problem', async () => {
    const person = signingProject(SPEC)
    await person.winnow('run')
    const state = person.remote('rev-parse', 'optimize-state/size')
    person.remote('update-ref', 'refs/heads/optimize/size', state)
    const { code, out } = await person.winnow('anchor')
    expect([code, person.remote('tag', '--list')]).toEqual([1, ''])
    expect(out).toContain('winnow signed nothing, because the audit found a problem.')
  })
})
