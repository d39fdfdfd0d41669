import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { auditLedger } from '../../src/engine/verify/audit.ts'
import { createAttestationService } from '../../src/github/attestations.ts'
import { createSigstore, serveAttestations } from '../audit/sigstore.ts'
import { scratch } from '../git/scratch.ts'
import { SIZE_FILES, SIZE_SPEC, shorter } from '../support/size-repository.ts'
import { campaignOnGithub } from './campaign-on-github.ts'
import { type RunningCampaign, startCampaign } from './runner/campaign.ts'

const SPEC = `${SIZE_SPEC}merge: { unisolated: allow }\n`

/** Signs what the jobs had attested, as GitHub would, and asks for it as an audit does. */
async function createService({ github: { world } }: RunningCampaign) {
  const repository = `${world.owner}/${world.repo}`
  const web = `https://github.com/${repository}`
  const sigstore = await createSigstore()
  const server = await serveAttestations(repository)
  for (const { run, subjects, workflow, commit } of world.attested) {
    const statement = { subjects, commit, repository: web, workflow: `https://github.com/${workflow}` }
    const bundle = await sigstore.sign({ ...statement, run: `${web}/actions/runs/${run}/attempts/1` })
    for (const { sha256 } of subjects) server.add(sha256, bundle)
  }
  return createAttestationService({
    apiUrl: server.apiUrl,
    webUrl: 'https://github.com',
    repository,
    token: '',
    web: fetch,
    trustedRoots: sigstore.trustedRoot,
  })
}

test('a campaign whose workflow attests is attested from its first event to its last', async () => {
  const it = await startCampaign({
    name: 'size',
    spec: SPEC,
    files: { ...SIZE_FILES, 'ideas/01.patch': shorter('a', 3, 'three letters a do') },
    attest: true,
  })
  await it.asks('ada', 'POST /actions/workflows/winnow.yml/dispatches', { ref: 'main', inputs: {} })
  await it.rest()
  const client = await it.openClient()
  expect(await client.outcomes()).toMatchObject({ 'three letters a do': 'kept' })
  const attesting = it.actions.jobs.filter(
    ({ id, conclusion }) => id === 'attest' && conclusion === 'success',
  )
  expect(attesting.length).toBeGreaterThan(1)
  for (const { grants, steps } of attesting) {
    expect(grants).toEqual({ attestations: 'write', id_token: 'write' })
    expect(steps.map(({ name }) => name)).toEqual(['Set up job', 'List what this run wrote', 'Attest it'])
  }
  const options = { required: true, service: await createService(it) }
  const { problems, open, attestation } = await auditLedger(client.place, null, options)
  expect({ problems, open }).toEqual({ problems: [], open: [] })
  expect(attestation).toMatchObject({ unattested: 0, by_github: attestation.events })
  await client.person({ kind: 'note', text: 'by hand', experiment: null })
  expect((await auditLedger(client.place, null, options)).problems).toEqual([
    { what: expect.stringContaining('not attested'), seq: attestation.events },
  ])
})

test('the run of a review leaves its work to a run that can be attested', async () => {
  const { github, wake } = await campaignOnGithub()
  const file = join(scratch(), 'event.json')
  writeFileSync(file, JSON.stringify({ pull_request: { number: 7 }, repository: { default_branch: 'main' } }))
  const env = { GITHUB_EVENT_NAME: 'pull_request_review', GITHUB_EVENT_PATH: file }
  const { code, out, outputs } = await wake({ env: { ...env, 'INPUT_NEXT-JOBS': 'measure, attest' } })
  expect([code, out]).toEqual([0, expect.stringMatching(/^Started run \d+ \(review of #7\)/m)])
  expect(github.world.runs.map(({ branch }) => branch)).toEqual(['main'])
  // Nothing was written that this run would have to attest.
  expect(outputs['ledger'] ?? '').toBe('')
  expect(github.world.pulls).toEqual([])
})
