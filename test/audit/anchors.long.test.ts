import { describe, expect, it } from 'vitest'
import { writeAnchor } from '../../src/engine/verify/attestation.ts'
import { auditLedger } from '../../src/engine/verify/audit.ts'
import type { Oid } from '../../src/model/ids.ts'
import { createTestRepository, type TestRepository } from '../support/repository.ts'
import { createSshKey, writeAllowedSigners } from './keys.ts'
import { FILES, OPEN_SPEC, patches, SHORTER_A } from './tampering.ts'

/** A finished campaign without signatures, and the key of a maintainer. */
async function openAnchored(): Promise<{ site: TestRepository; tip: () => Oid; tags: () => string }> {
  const site = await createTestRepository({
    files: { ...FILES, ...patches([SHORTER_A]) },
    spec: OPEN_SPEC,
    remote: true,
  })
  const ada = createSshKey(site.root, 'ada')
  const eve = createSshKey(site.root, 'eve')
  site.git('config', 'gpg.format', 'ssh')
  site.git('config', 'user.signingkey', `${ada.file}.pub`)
  site.git('config', 'gpg.ssh.allowedSignersFile', writeAllowedSigners(site.root, { 'ada@example.org': ada }))
  site.git('config', 'eve.key', `${eve.file}.pub`)
  await site.start()
  const tip = () => site.bare('rev-parse', site.place.refs.state)
  return { site, tip, tags: () => site.bare('tag', '--list') }
}

async function auditAttested(site: TestRepository) {
  const { problems, open, attestation } = await auditLedger(site.place, null, {
    required: true,
    service: null,
  })
  const words = (found: readonly { what: string }[]) =>
    found.map(({ what }) => what.replaceAll(/[0-9a-f]{12,64}/g, '<id>'))
  return { problems: words(problems), open: words(open), attestation }
}

describe('an anchor', () => {
  it('is a signed tag on the remote that vouches for every event below it', async () => {
    const { site, tip, tags } = await openAnchored()
    const { tag, events, isNew } = await writeAnchor(site.place, tip())
    expect([isNew, tags()]).toEqual([true, tag])
    expect(tag).toBe(`optimize-anchor/size/${events - 1}-${tip().slice(0, 12)}`)
    expect(site.bare('cat-file', '-t', tag)).toBe('tag')
    const { problems, attestation } = await auditAttested(site)
    expect(problems).toEqual([])
    expect(attestation).toMatchObject({
      anchored: events,
      unattested: 0,
      anchors: [{ tag, events, signer: 'ada@example.org' }],
    })
    expect((await writeAnchor(site.place, tip())).isNew).toBe(false)
  })

  it('vouches for no later event', async () => {
    const { site, tip } = await openAnchored()
    await writeAnchor(site.place, tip())
    await site.run()
    const { problems, attestation } = await auditAttested(site)
    expect(attestation.unattested).toBe(attestation.events - attestation.anchored)
    expect(problems[0]).toMatch(/^events? \d+.* not attested: commit <id>: it has no signature$/)
    const plain = await auditLedger(site.place)
    expect([plain.ok, plain.attestation.says]).toEqual([
      true,
      expect.stringMatching(
        /^Not attested in full: 1 anchor up to event \d+\. winnow audit --require-attested/,
      ),
    ])
  })

  it('shows that a ledger was replaced, to a clone that has never audited it', async () => {
    const { site, tip } = await openAnchored()
    const before = tip()
    await site.person({ kind: 'note', text: 'true', experiment: null })
    await writeAnchor(site.place, tip())
    site.bare('update-ref', site.place.refs.state, before)
    const fresh = await site.another()
    await fresh.person({ kind: 'note', text: 'forged', experiment: null })
    const { problems } = await auditLedger(fresh.place)
    expect(problems.map(({ what }) => what)).toEqual([
      expect.stringMatching(
        /^the anchor optimize-anchor\/size\/\d+-[0-9a-f]{12} of ada@example\.org names [0-9a-f]{40}, which today's ledger does not contain$/,
      ),
    ])
  })

  it('does not count if its key is not trusted, its tag has another name, or it has no signature', async () => {
    const { site, tip, tags } = await openAnchored()
    site.git('config', 'user.signingkey', site.git('config', 'eve.key'))
    await site.reopen()
    await writeAnchor(site.place, tip())
    const [tag] = tags().split('\n')
    const oid = site.bare('rev-parse', `refs/tags/${tag}`)
    site.bare('update-ref', 'refs/tags/optimize-anchor/size/0-000000000000', oid)
    site.bare('update-ref', 'refs/tags/optimize-anchor/size/1-111111111111', tip())
    const { problems, open, attestation } = await auditAttested(site)
    expect(attestation.anchored).toBe(0)
    expect(problems).not.toEqual([])
    expect(open.filter(what => what.startsWith('the anchor'))).toEqual([
      'the anchor optimize-anchor/size/1-<id> does not count: it has no signature',
      expect.stringMatching(/^the anchor optimize-anchor\/size\/0-<id> does not count: it was signed as /),
      expect.stringMatching(/does not count: git does not trust its key$/),
    ])
  })

  it('is refused without a key, and nothing is pushed', async () => {
    const { site, tip, tags } = await openAnchored()
    site.git('config', '--unset', 'user.signingkey')
    await site.reopen()
    await expect(writeAnchor(site.place, tip())).rejects.toThrow('git has no key to sign with (ssh)')
    expect(tags()).toBe('')
  })
})
