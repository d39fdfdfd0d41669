import { describe, expect, it } from 'vitest'
import { readSpecForOrder } from '../../src/engine/jobs/job-clone.ts'
import { type Campaign, createEmptyCampaign } from '../../src/model/campaign.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import { open, userRepository } from '../git/scratch.ts'

const PATH = '.winnow/size.yaml'
const HARNESS = 'c'.repeat(64)

function spec(hours: number): string {
  return `winnow: 1
metric: { primary: { name: bytes, direction: minimize } }
gates: [{ name: tests, command: sh bench/test }]
measurement: { command: sh bench/run }
scope: { mutable: [src/] }
stopping: { max_hours: ${hours} }
`
}

/** A campaign that began with one spec, and has another in force. */
async function amendedTo(yaml: string) {
  const user = userRepository()
  const commit = user.commit('spec', { [PATH]: spec(1) })
  const pin = { commit, tree: user.git('rev-parse', 'HEAD^{tree}') }
  const campaign: Campaign = {
    ...createEmptyCampaign(),
    spec_path: PATH,
    spec_yaml: yaml,
    spec_sha256: hashSha256(yaml),
    harness: HARNESS,
    pin,
  }
  const repository = await open({ remote: user.dir, local: true })
  const ofOrder = (issuedWith: string, harness = HARNESS) =>
    readSpecForOrder(repository, campaign, { spec_sha256: hashSha256(issuedWith), pin, harness })
  return { ofOrder }
}

describe('the spec of an order', () => {
  it('is the one in force, or the one in its commit', async () => {
    const { ofOrder } = await amendedTo(spec(2))
    expect((await ofOrder(spec(2))).stopping.max_hours).toBe(2)
    expect((await ofOrder(spec(1))).stopping.max_hours).toBe(1)
  })

  it('may be amended twice since, as long as the harness is the same', async () => {
    const { ofOrder } = await amendedTo(spec(3))
    expect((await ofOrder(spec(2))).stopping.max_hours).toBe(3)
  })

  it('is never one with another harness', async () => {
    const { ofOrder } = await amendedTo(spec(3))
    await expect(ofOrder(spec(2), 'd'.repeat(64))).rejects.toThrow('neither pinned nor in its commit')
  })
})
