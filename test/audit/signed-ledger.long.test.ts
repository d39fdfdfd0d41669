import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { auditLedger, type AuditResult } from '../../src/engine/verify/audit.ts'
import { openChain } from '../../src/ledger/event-file.ts'
import { readTip } from '../../src/ledger/read-events.ts'
import { createTestRepository, type TestRepository } from '../support/repository.ts'
import { createGpgHome, createSshKey, HAS_GPG, type SshKey, writeAllowedSigners } from './keys.ts'
import { FILES, OPEN_SPEC, patches, SHORTER_A } from './tampering.ts'

const SIGNED_SPEC = `${OPEN_SPEC}ledger: { sign: ssh }\n`

interface SignedSite {
  site: TestRepository
  ada: SshKey
  eve: SshKey
  state: () => string
}

/** A campaign whose spec asks for signatures, in a repository with the key of ada. */
async function openSigned(spec = SIGNED_SPEC): Promise<SignedSite> {
  const site = await createTestRepository({ files: { ...FILES, ...patches([SHORTER_A]) }, spec })
  const ada = createSshKey(site.root, 'ada')
  const eve = createSshKey(site.root, 'eve')
  site.git('config', 'user.signingkey', `${ada.file}.pub`)
  site.git('config', 'gpg.ssh.allowedSignersFile', writeAllowedSigners(site.root, { 'ada@example.org': ada }))
  return { site, ada, eve, state: () => site.git('rev-parse', site.place.refs.state) }
}

function requireAttested(site: TestRepository): Promise<AuditResult> {
  return auditLedger(site.place, null, { required: true, service: null })
}

/** The words of every problem, without the ids of commits. */
function listProblems({ problems }: AuditResult): string[] {
  return problems.map(({ what }) => what.replaceAll(/[0-9a-f]{12,64}/g, '<id>'))
}

describe('a ledger that the spec wants signed', () => {
  it('is signed with the key that git has, in every commit', async () => {
    const { site, state } = await openSigned()
    await site.start()
    await site.run()
    const unsigned = site
      .git('log', '--format=%G?', state())
      .split('\n')
      .filter(grade => grade !== 'G')
    expect(unsigned).toEqual([])
    const result = await requireAttested(site)
    expect(result.problems).toEqual([])
    expect(result.attestation).toMatchObject({
      verified: true,
      unattested: 0,
      signed: result.checked.events,
      signers: ['ada@example.org'],
    })
    expect(result.attestation.says).toMatch(
      /^Attested: all \d+ events \(\d+ signed\)\. Signers: ada@example\.org\.$/,
    )
  })

  it('refuses to write without a key, and pushes nothing', async () => {
    const { site } = await openSigned()
    site.git('config', '--unset', 'user.signingkey')
    await expect(site.start()).rejects.toThrow('git has no key to sign with (ssh)')
    expect(site.git('for-each-ref', 'refs/heads/optimize*')).toBe('')
  })

  it('refuses to write if the key cannot be used, keeps the events in a file, and continues later', async () => {
    const { site, ada, state } = await openSigned()
    await site.start()
    const before = state()
    const moved = readFileSync(ada.file)
    rmSync(ada.file)
    const note = { kind: 'note', text: 'a word', experiment: null } as const
    await expect(site.person(note)).rejects.toThrow(
      /git could not sign the ledger commit, so nothing was pushed: [\s\S]*winnow saved 1 unwritten event/,
    )
    await expect(site.run()).rejects.toThrow('git could not sign the ledger commit')
    expect(state()).toBe(before)
    writeFileSync(ada.file, moved, { mode: 0o600 })
    await site.run()
    expect(listProblems(await requireAttested(site))).toEqual([])
  })

  it('does not wait for a passphrase that no person can type', async () => {
    const { site } = await openSigned()
    const locked = createSshKey(site.root, 'locked', 'a secret')
    site.git('config', 'user.signingkey', `${locked.file}.pub`)
    await expect(site.start()).rejects.toThrow('git could not sign the ledger commit')
  })

  it('signs again after a lost race', async () => {
    const { site } = await openSigned()
    await site.start()
    const other = await site.another()
    const notes = ['one', 'two', 'three'].flatMap(text => [
      site.person({ kind: 'note', text, experiment: null }),
      other.person({ kind: 'note', text: `${text} too`, experiment: null }),
    ])
    await Promise.all(notes)
    const result = await requireAttested(site)
    expect([result.problems, result.attestation.signed]).toEqual([[], result.checked.events])
  })
})

describe('audit of a signed ledger', () => {
  it('names an unsigned commit in the middle, without any option', async () => {
    const { site, state } = await openSigned()
    await site.start()
    await forgeUnsigned(site)
    await site.run()
    const forged = site
      .git('log', '--format=%G? %H', state())
      .split('\n')
      .filter(line => line.startsWith('N'))
    expect(forged).toHaveLength(1)
    const result = await auditLedger(site.place)
    expect(listProblems(result)).toEqual([
      expect.stringMatching(
        /^commit <id> of the ledger \(event \d+\) is not signed, and the spec in force says ledger\.sign: ssh$/,
      ),
    ])
    expect(listProblems(await requireAttested(site)).at(-1)).toMatch(
      /^event \d+ not attested: commit <id>: it has no signature$/,
    )
  })

  it('names commits of a key that is not allowed', async () => {
    const { site, eve } = await openSigned()
    await site.start()
    site.git('config', 'user.signingkey', `${eve.file}.pub`)
    await site.reopen()
    await site.person({ kind: 'note', text: 'forged', experiment: null })
    expect(listProblems(await auditLedger(site.place))).toEqual([])
    const result = await requireAttested(site)
    expect(listProblems(result)).toEqual([
      expect.stringMatching(
        /^event \d+ not attested: commit <id>: its signature is good, but git does not trust the key/,
      ),
    ])
    expect(result.attestation.says).toMatch(/^Not attested: 1 of \d+ events \(\d+ signed\)/)
  })

  it('names commits of a key that was revoked', async () => {
    const { site, ada } = await openSigned()
    await site.start()
    site.git('config', 'gpg.ssh.revocationFile', `${ada.file}.pub`)
    await site.reopen()
    const result = await requireAttested(site)
    expect(result.ok).toBe(false)
    expect(result.attestation).toMatchObject({ signed: 0, unattested: result.checked.events })
  })

  it('names commits that a key signed after it had expired', async () => {
    const { site, ada } = await openSigned()
    await site.start()
    const file = join(site.root, 'allowed-signers')
    writeFileSync(file, `ada@example.org valid-before="20200101" ${ada.publicKey}\n`)
    const result = await requireAttested(site)
    expect(result.attestation).toMatchObject({ signed: 0, unattested: result.checked.events })
    writeFileSync(file, `ada@example.org valid-after="20200101" ${ada.publicKey}\n`)
    expect((await requireAttested(site)).problems).toEqual([])
  })

  it('says which setting is missing if no key is trusted', async () => {
    const { site } = await openSigned()
    await site.start()
    site.git('config', '--unset', 'gpg.ssh.allowedSignersFile')
    await site.reopen()
    const [problem] = listProblems(await requireAttested(site))
    expect(problem).toContain('git config gpg.ssh.allowedSignersFile <file>')
  })

  it('holds an unsigned ledger for unattested, and says so without the option', async () => {
    const { site } = await openSigned(OPEN_SPEC)
    await site.start()
    const plain = await auditLedger(site.place)
    expect([plain.ok, plain.attestation.says]).toEqual([
      true,
      'Not attested: no signature or anchor vouches for this ledger (docs/attestation.md).',
    ])
    const result = await requireAttested(site)
    expect(result.ok).toBe(false)
    expect(result.attestation.unattested).toBe(result.checked.events)
  })
})

describe('a ledger that gpg signs', () => {
  it.skipIf(!HAS_GPG)('is verified with the keyring, until its key is revoked', async () => {
    const home = createGpgHome('ada@example.org')
    const site = await createTestRepository({
      files: { ...FILES, ...patches([SHORTER_A]) },
      spec: `${OPEN_SPEC}ledger: { sign: gpg }\n`,
      env: home.env,
    })
    site.git('config', 'user.signingkey', home.key)
    await site.start()
    await site.run()
    const result = await requireAttested(site)
    expect(listProblems(result)).toEqual([])
    expect(result.attestation.signers).toEqual(['Tester <ada@example.org>'])
    const file = join(home.dir, 'openpgp-revocs.d', `${home.key}.rev`)
    const text = readFileSync(file, 'utf8').replaceAll(/^:(-----)/gm, '$1')
    writeFileSync(file, text)
    home.run('--import', file)
    const [problem] = listProblems(await requireAttested(site))
    expect(problem).toContain('its key was revoked')
  })
})

/** An event that fits the chain, in a commit that nobody signed: what a pusher of the branch can write. */
async function forgeUnsigned(site: TestRepository): Promise<void> {
  const { repository, refs } = site.place
  const from = site.git('rev-parse', refs.state)
  const tip = await readTip(repository, from)
  const by = { run_id: 'eve', attempt: 1, actor: 'eve' }
  const { bytes, event } = openChain(tip, { at: '2026-01-01T00:00:00.000Z', by }).addEvent({
    kind: 'note',
    cause: 'forged',
    text: 'forged',
    experiment: null,
  })
  const path = `events/0000/${String(event.seq).padStart(6, '0')}.json`
  const entry = { mode: '100644', oid: await repository.writeBlob(bytes) } as const
  const tree = await repository.replaceEntries(tip.tree ?? repository.emptyTree, [{ path, entry }])
  const to = await repository.writeCommit({ tree, parents: [from], message: 'forged', date: 1_767_225_600 })
  expect(await repository.push([{ ref: refs.state, from, to }])).toEqual({ ok: true })
}
