import { expect } from 'vitest'
import type { LedgerEvent } from '../../src/model/event.ts'
import type { CommandLine } from './command-line.ts'
import type { Scene } from './scene.ts'
import { outcomeCounts } from '../model/outcome-counts.ts'

export type Ending = Awaited<ReturnType<typeof endingOf>>

/** What a campaign came to: outcomes, verdicts and trees; no times, run ids, lost orders or commit ids. */
export async function endingOf(scene: Scene) {
  const { campaign, events } = await scene.look(async client => ({
    campaign: await client.campaign(),
    events: await client.events(),
  }))
  const { experiments, round, landings, incumbent, status } = campaign
  const ending = {
    status,
    experiments: Object.values(experiments).map(each => ({
      id: each.id,
      hypothesis: each.hypothesis,
      ended: [each.outcome, each.verdict, each.closed],
      bytes: each.metrics['bytes'],
      tree: each.measured_tree,
    })),
    counts: outcomeCounts(campaign),
    round,
    kept: landings.map(({ experiment, base }) => ({ experiment, on: base.tree })),
    incumbent: incumbent.tree,
    trees: treesOf(scene),
    alerts: campaign.alerts.map(({ code }) => code).toSorted(),
  }
  return { ending, campaign, events }
}

/** All that does not depend on chance, where numbers differ from run to run. */
export function stateOf({ ending }: Ending) {
  const experiments = ending.experiments.map(({ bytes, ...rest }) => [rest, bytes === null])
  const trees = ending.trees.filter(line => !/optimize-(results|closed|campaign)/.test(line))
  return { ...ending, experiments, trees }
}

/** Every branch of the engine, but for the ledger's own files, by what it holds. */
function treesOf({ origin }: Scene): string[] {
  const refs = origin('for-each-ref', '--format=%(refname)', 'refs/heads').split('\n')
  const kept = refs.filter(ref => !/optimize-state/.test(ref))
  return kept.map(ref => `${ref} ${ref.includes('-exp/') ? '' : origin('rev-parse', `${ref}^{tree}`)}`)
}

/** Nothing twice, everything proven, and nothing of the person's touched. */
export async function expectSound(scene: Scene, commandLine: CommandLine, { events }: Ending): Promise<void> {
  const ids = events.map(({ id }) => id)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  const proofs = await Promise.all(['audit', 'replay'].map(verb => commandLine.run(scene, [verb])))
  for (const { code, out, err } of proofs) expect([code, out, err]).toEqual([0, out, err])
  await scene.expectLeftAlone()
}

export function lostOrders(events: readonly LedgerEvent[]) {
  return events.flatMap(event => (event.kind === 'order-lost' ? [event] : []))
}
