import { join } from 'node:path'
import { tickCampaign } from '../../src/engine/controller/tick.ts'
import type { PlanWaiting } from '../../src/plan/action.ts'
import { ENV } from '../support/campaign-client.ts'
import { letters, type SizeOptions, createSizeRepository } from '../support/size-repository.ts'
import { patchOf, type TestRepository } from '../support/repository.ts'
import { runVerb } from '../github/on-github.ts'
import { compareGolden } from './compare-golden.ts'
import { fixRunner } from './fixed-runner.ts'
import { recordCampaign } from './record-campaign.ts'

/** The clock stands still, chance is seeded, durations are 0. */
export const FIXED = { seed: 'golden', timeless: true }

export const LONGER = patchOf(
  { 'src/c.txt': [letters('c', 15), letters('c', 17)] },
  { hypothesis: 'c should be longer' },
)
export const BROKEN = patchOf(
  { 'src/c.txt': [letters('c', 15), 'broken\n'] },
  { hypothesis: 'breaks the tests' },
)

/** A campaign on this machine that has run until it waits for something else than measurements. */
export async function runCampaign(
  ideas: readonly string[],
  options: SizeOptions = {},
): Promise<TestRepository> {
  const site = await createSizeRepository(ideas, { ...FIXED, ...options })
  await site.start()
  await runInTurn(site)
  return site
}

/** Takes all reports of a round in at once, so that their order in the ledger does not depend on which ends first. */
export async function runInTurn(site: Pick<TestRepository, 'hands'>): Promise<PlanWaiting> {
  const real = await site.hands()
  const hands = { ...real, runner: fixRunner(real.runner) }
  for (;;) {
    hands.memory.refs = null
    const { waiting } = await tickCampaign(hands)
    if (waiting.for === 'orders') await hands.runner.finished()
    else if (waiting.for === 'proposers') await hands.runner.finished()
    else return waiting
  }
}

export async function compareRepository(scenario: string, site: TestRepository): Promise<void> {
  await site.proven()
  const { clock, random, name } = site.place
  const around = {
    directory: site.repo,
    remote: site.origin === site.repo ? 'none' : null,
    cacheDir: join(site.root, 'cache-of-verbs'),
    env: ENV,
    by: { run_id: 'cli:1', attempt: 1, actor: 'ada' },
    clock,
    random,
  }
  const winnow = (...argv: string[]) => runVerb([...argv, '--campaign', name], around)
  compareGolden(scenario, await recordCampaign({ bare: site.origin, place: site.place, winnow }))
}
