import type { Repository } from '../../git/repository.ts'
import type { Campaign, Landing } from '../../model/campaign.ts'
import type { ExperimentId, Oid, Point } from '../../model/ids.ts'
import { toOneLine } from '../../model/landing.ts'
import { neutralizeMentions } from '../../model/unlinked.ts'
import type { PickFacts } from '../../plan/world.ts'

interface PickLookup {
  repository: Repository
  memory: { picks: Map<string, PickFacts> }
  campaign: Campaign
}

/**
 * What taking a change alone makes of the default branch, for every wish and every pick that is open. The default
 * branch is taken as the campaign has it: with another ruler than the one in force nothing could be measured there.
 */
export async function readPickFacts(looking: PickLookup): Promise<Map<string, PickFacts>> {
  const { campaign, memory } = looking
  const found = new Map<string, PickFacts>()
  const used = new Map<string, PickFacts>()
  for (const { by, of } of listWantedPicks(campaign)) {
    const landing = campaign.landings.find(
      ({ experiment, reverted }) => experiment === of && reverted === null,
    )
    if (landing === undefined) continue
    const key = `${campaign.default_tip} ${landing.commit}`
    const facts = memory.picks.get(key) ?? (await buildPick(looking, landing))
    used.set(key, facts)
    found.set(by, facts)
  }
  memory.picks = used
  return found
}

function listWantedPicks({ steered, picks }: Campaign): { by: string; of: ExperimentId }[] {
  const wishes = steered.filter(({ action }) => action === 'pick')
  const open = Object.values(picks).filter(({ closed }) => !closed)
  return [
    ...wishes.map(({ event: by, experiment: of }) => ({ by, of })),
    ...open.map(({ id: by, picks: of }) => ({ by, of })),
  ]
}

/**
 * The landing's own change merged into the default branch, whatever else lies between the two: three commits that
 * nobody else has, with the tree before the landing as what the other two come from.
 */
async function buildPick({ repository, campaign }: PickLookup, landing: Landing): Promise<PickFacts> {
  const { commit, tree } = await readPoint(repository, campaign.default_tip)
  const { committer } = await repository.commit(commit)
  const apart = (of: Oid, parents: Oid[]) =>
    repository.writeCommit({ tree: of, parents, message: 'apart\n', date: committer.date })
  const before = await apart(landing.base.tree, [])
  const merged = await repository.mergeTree(await apart(tree, [before]), await apart(landing.tree, [before]))
  const facts = { landing: landing.experiment, base: { commit, tree } }
  if (!merged.clean) return { ...facts, result: { conflict: merged.conflicts } }
  if (merged.tree === tree) return { ...facts, result: { present: true } }
  const made = await repository.writeCommit({
    tree: merged.tree,
    parents: [commit],
    message: formatPickMessage(campaign, landing),
    date: committer.date,
  })
  return { ...facts, result: { made: { commit: made, tree: merged.tree } } }
}

async function readPoint(repository: Repository, commit: Oid): Promise<Point> {
  return { commit, tree: (await repository.commit(commit)).tree }
}

function formatPickMessage({ name, experiments }: Campaign, { experiment, commit }: Landing): string {
  const hypothesis = neutralizeMentions(toOneLine(experiments[experiment]?.hypothesis ?? experiment, 120))
  const trailers = [`Winnow-Pick: ${experiment}`, `Winnow-Landing: ${commit}`]
  return [`optimize(${name}): ${hypothesis}`, '', `${experiment} alone.`, '', ...trailers, ''].join('\n')
}
