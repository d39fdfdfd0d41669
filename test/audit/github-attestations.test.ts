import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ForgeError } from '../../src/errors.ts'
import { auditLedger } from '../../src/engine/verify/audit.ts'
import { createAttestationService } from '../../src/github/attestations.ts'
import { listWrittenSubjects, type WrittenSubject } from '../../src/model/attestation.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import { createTestRepository, type TestRepository } from '../support/repository.ts'
import { createSigstore, randomDigest, serveAttestations, type TestStatement } from './sigstore.ts'
import {
  clearCopies,
  type Copy,
  copyOf,
  events,
  FILES,
  keepAside,
  OPEN_SPEC,
  patches,
  renameMain,
  restorePoint,
  SHORTER_A,
} from './tampering.ts'

const REPOSITORY = 'team/project'
const WEB = 'https://github.com/team/project'
const WORKFLOW = '.github/workflows/winnow.yml'

let sigstore: Awaited<ReturnType<typeof createSigstore>>
let campaign: Copy
let restore: () => void
let ledger: LedgerEvent[]
beforeAll(async () => {
  sigstore = await createSigstore()
  campaign = await copyOf(keepAside(await writeTwoRuns()))
  restore = restorePoint(campaign)
  ledger = await events(campaign)
})
afterEach(() => restore())
afterAll(clearCopies)

/** A campaign of two runs, 7 and 8, as the workflow would write it. */
async function writeTwoRuns(): Promise<TestRepository> {
  const site = await createTestRepository({
    files: { ...FILES, [WORKFLOW]: 'name: winnow\n', ...patches([SHORTER_A]) },
    spec: OPEN_SPEC,
    runId: 'actions:7',
  })
  await site.start()
  await site.run()
  await site.reopen({ runId: 'actions:8' })
  await site.person({ kind: 'note', text: 'later', experiment: null })
  return site
}

async function openAttested() {
  const ofRun = (run: number) => ledger.filter(({ by }) => by.run_id === `actions:${run}`)
  const server = await serveAttestations(REPOSITORY)
  return { ofRun, server, commit: campaign.git('rev-parse', 'main') }
}

type Attested = Awaited<ReturnType<typeof openAttested>>

function describeRun({ commit }: Attested, run: number, subjects: readonly WrittenSubject[]): TestStatement {
  return {
    subjects,
    commit,
    repository: WEB,
    workflow: `${WEB}/${WORKFLOW}@refs/heads/main`,
    run: `${WEB}/actions/runs/${run}/attempts/1`,
  }
}

/** GitHub finds the bundle by each digest that the statement names. */
async function attest(attested: Attested, statement: TestStatement): Promise<void> {
  const bundle = await sigstore.sign(statement)
  for (const { sha256 } of statement.subjects) attested.server.add(sha256, bundle)
}

function listSubjects(events: readonly LedgerEvent[]): WrittenSubject[] {
  return listWrittenSubjects('size', events)
}

async function audit({ server: { apiUrl } }: Pick<Attested, 'server'>, trustedRoots = sigstore.trustedRoot) {
  const source = { apiUrl, webUrl: 'https://github.com', repository: REPOSITORY, token: '', web: fetch }
  const service = createAttestationService({ ...source, trustedRoots })
  const { ok, problems, open, attestation } = await auditLedger(campaign.place, null, {
    required: true,
    service,
  })
  const words = (found: readonly { what: string }[]) => found.map(({ what }) => what)
  return { ok, problems: words(problems), open: words(open), attestation }
}

/** What an audit says if run 7 is attested properly and run 8 with this statement. */
async function auditLastRun(change: (proper: TestStatement, attested: Attested) => Partial<TestStatement>) {
  const attested = await openAttested()
  await attest(attested, describeRun(attested, 7, listSubjects(attested.ofRun(7))))
  const proper = describeRun(attested, 8, listSubjects(attested.ofRun(8)))
  await attest(attested, { ...proper, ...change(proper, attested) })
  return audit(attested)
}

const WITHOUT = /^event \d+ not attested: commit [0-9a-f]{12}: it has no signature$/

describe('a ledger whose runs GitHub attests', () => {
  it('is attested, and each report by itself', async () => {
    const attested = await openAttested()
    const subjects = listSubjects(attested.ofRun(7))
    expect(subjects.map(({ name }) => name.replace(/[0-9a-f]{64}/, '<order>'))).toEqual([
      ...attested
        .ofRun(7)
        .flatMap(({ kind }) => (kind === 'measured' ? ['winnow/size/reports/<order>'] : [])),
      `winnow/size/events/0-${attested.ofRun(7).length - 1}`,
    ])
    expect(await auditLastRun(() => ({}))).toMatchObject({ ok: true, problems: [] })
  })

  it('is attested after its default branch was renamed as well', async () => {
    const attested = await openAttested()
    for (const run of [7, 8])
      await attest(attested, describeRun(attested, run, listSubjects(attested.ofRun(run))))
    await renameMain(campaign)
    const { open, attestation } = await audit(attested)
    expect(open).toEqual([])
    expect(attestation).toMatchObject({ unattested: 1, by_github: ledger.length })
  })

  it('is not audited with an answer that breaks off', async () => {
    const web = async () => new Response('{"attestations": [')
    const source = {
      apiUrl: 'https://x.invalid',
      webUrl: 'https://x.invalid',
      repository: REPOSITORY,
      token: '',
    }
    const service = createAttestationService({ ...source, web, trustedRoots: sigstore.trustedRoot })
    await expect(service.find(randomDigest())).rejects.toThrow(ForgeError)
  })

  it('has one question for each run, and says what is missing', async () => {
    const attested = await openAttested()
    await attest(attested, describeRun(attested, 7, listSubjects(attested.ofRun(7))))
    const { problems, attestation } = await audit(attested)
    expect(problems).toEqual([expect.stringMatching(WITHOUT)])
    expect(attestation).toMatchObject({ unattested: 1, by_github: attested.ofRun(7).length })
    expect(attested.server.asked).toHaveLength(2)
    expect((await auditLedger(campaign.place)).attestation.says).toBe(
      'Not attested: no signature or anchor vouches for this ledger; winnow audit --require-attested asks GitHub for attestations (docs/attestation.md).',
    )
  })
})

describe('an attestation does not count', () => {
  const cases: Record<string, [(proper: TestStatement) => Partial<TestStatement>, RegExp]> = {
    'of another workflow file': [
      () => ({ workflow: `${WEB}/.github/workflows/ci.yml@refs/heads/main` }),
      /it was signed by .*ci\.yml@refs\/heads\/main$/,
    ],
    'of the workflow on another branch': [
      () => ({ workflow: `${WEB}/${WORKFLOW}@refs/heads/eve` }),
      /it was signed by .*@refs\/heads\/eve$/,
    ],
    'of another repository': [
      () => ({ repository: 'https://github.com/eve/project' }),
      /it is of .*eve\/project$/,
    ],
    'of another identity provider': [
      () => ({ issuer: 'https://accounts.example.org' }),
      /not for GitHub Actions$/,
    ],
    'of a commit that no branch has': [
      () => ({ commit: 'a'.repeat(40) }),
      /which the branches of the campaign do not contain$/,
    ],
  }
  it.each(Object.entries(cases))('%s', async (_, [change, why]) => {
    const { problems, open } = await auditLastRun(change)
    expect(problems).toEqual([expect.stringMatching(WITHOUT)])
    expect(open).toEqual([expect.stringMatching(why)])
  })

  it('of a run whose commit has another workflow file than the default branch', async () => {
    const { problems, open } = await auditLastRun(() => ({
      workflow: `${WEB}/${WORKFLOW}@refs/heads/optimize/size`,
      commit: pushOtherWorkflow(),
    }))
    expect(problems.at(-1)).toMatch(WITHOUT)
    expect(open.join()).toMatch(/whose \.github differs from that of refs\/heads\/main/)
  })

  it('of a run that the events do not name', async () => {
    const { problems } = await auditLastRun(() => ({ run: `${WEB}/actions/runs/9/attempts/1` }))
    expect(problems).toEqual([expect.stringMatching(WITHOUT)])
  })

  it('of a certificate that the trusted root does not know, or a changed statement', async () => {
    const attested = await openAttested()
    const last = listSubjects(attested.ofRun(8))
    const statement = describeRun(attested, 8, last)
    const bundle = await sigstore.sign(statement)
    const changed = Buffer.from(bundle.dsseEnvelope.payload, 'base64').toString().replace('v1', 'v2')
    bundle.dsseEnvelope.payload = Buffer.from(changed).toString('base64')
    attested.server.add(last[0]?.sha256 ?? '', bundle)
    const { attestation, open } = await audit(attested)
    expect([attestation.by_github, open]).toEqual([0, [expect.stringContaining('does not count')]])
    await attest(attested, statement)
    expect((await audit(attested)).attestation.by_github).toBe(1)
    const other = await createSigstore()
    expect((await audit(attested, other.trustedRoot)).attestation.by_github).toBe(0)
  })
})

describe('a ledger that differs from what was attested', () => {
  it('has a problem where a report has another digest', async () => {
    const { problems } = await auditLastRun(({ subjects }, attested) => {
      const measured = listSubjects(attested.ofRun(7)).find(({ name }) => name.includes('/reports/'))
      return { subjects: [...subjects, { name: measured?.name ?? '', sha256: randomDigest() }] }
    })
    expect(problems).toEqual([
      expect.stringMatching(
        /^event \d+ \(measured\) is not the report that run 8 attested for order [0-9a-f]{12}$/,
      ),
    ])
  })

  it('has a problem where events were replaced after a run had attested them', async () => {
    const { problems } = await auditLastRun(({ subjects }) => ({
      subjects: [...subjects, { name: 'winnow/size/events/2-3', sha256: randomDigest() }],
    }))
    expect(problems).toEqual(['events 2 to 3 are not those that run 8 attested'])
  })
})

/** A commit on the campaign's branch, as a person with push access could make it. */
function pushOtherWorkflow(): string {
  const { git } = campaign
  const index = ['-c', 'core.bare=false', '--work-tree', campaign.root]
  git(...index, 'read-tree', 'optimize/size')
  const file = join(campaign.root, WORKFLOW)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, 'name: forged\n')
  git(...index, 'add', '-f', file)
  const commit = git('commit-tree', '-p', 'optimize/size', '-m', 'forged', git('write-tree'))
  git('update-ref', 'refs/heads/optimize/size', commit)
  return commit
}
