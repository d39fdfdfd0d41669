import { join } from 'node:path'
import { jobClone } from '../action/a-job.ts'
import { ENV, openCampaignClient } from '../support/campaign-client.ts'
import { proven } from '../support/repository.ts'
import { scratch } from '../git/scratch.ts'
import type { Life } from '../github/life.ts'
import { type OnGithub, runVerb } from '../github/on-github.ts'
import { compareGolden } from './compare-golden.ts'
import { recordCampaign } from './record-campaign.ts'

/** A campaign on GitHub that this process has ticked and measured. */
export async function compareGithub(scenario: string, { client, github, winnow }: OnGithub): Promise<void> {
  await proven(client.place)
  compareGolden(scenario, await recordCampaign({ bare: github.bare, place: client.place, github, winnow }))
}

/** One that jobs of workflow runs have ticked and measured, as anybody with a clone reads it. */
export async function compareLife(scenario: string, { github }: Life): Promise<void> {
  const { dir: directory } = jobClone(github.bare, 'main')
  const root = scratch()
  const fixed = { seed: 'golden', timeless: true }
  const client = await openCampaignClient({
    name: 'size',
    directory,
    cacheDir: join(root, 'client'),
    remote: null,
    ...fixed,
  })
  const { place } = client
  await proven(place)
  const { clock, random } = place
  const by = { run_id: 'cli:1', attempt: 1, actor: 'ada' }
  const around = { directory, remote: null, cacheDir: join(root, 'verbs'), env: ENV, by, clock, random }
  const winnow = (...argv: string[]) => runVerb(argv, around)
  compareGolden(scenario, await recordCampaign({ bare: github.bare, place, github, winnow }))
  await client.close()
}
