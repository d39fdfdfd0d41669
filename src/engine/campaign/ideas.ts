import { join } from 'node:path'
import { addAmendHint, UserError, WinnowError } from '../../errors.ts'
import { getHeadRef, type Pull } from '../../github/pull.ts'
import { buildExternalProposals, listExternalTips } from '../../ideas/external.ts'
import { mergeBacklogIdea } from '../../ideas/idea-block.ts'
import {
  listUntriedPatches,
  type PatchFile,
  type PreparedPatches,
  proposePatches,
  readPatches,
} from '../../ideas/patch.ts'
import type { PriorResult } from '../../ideas/prior-results.ts'
import {
  type CommandProposer,
  getProposerName,
  isProposerDisabled,
  type NamedProposer,
  nameProposers,
} from '../../ideas/proposers.ts'
import {
  type AnswerHeads,
  type AnswerToStore,
  buildAnsweredProposals,
  forgetSettled,
  readStoredAnswers,
  storeAnswer,
} from '../../ideas/stored-answers.ts'
import { makeAccessible } from '../../measure/isolation/access-check.ts'
import type { Owner } from '../../measure/process/reaper.ts'
import type { Campaign } from '../../model/campaign.ts'
import { buildCommandKey, collectHandedOutIdeas, TEXT_GRADIENT } from '../../model/fold/proposers.ts'
import { buildRestoreKey } from '../../model/experiment.ts'
import type { EventId, Oid, Point } from '../../model/ids.ts'
import { toSafeLine } from '../../model/text.ts'
import { selectNextIdea } from '../../plan/backlog.ts'
import { countOpenEngineExperiments } from '../../plan/intake.ts'
import { selectNextAngle } from '../../plan/proposals.ts'
import type { AnswerFacts, Proposal, RevertFacts } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'
import { askProgram } from '../jobs/propose-job.ts'
import { type AskedRewrite, askForRewrite } from '../jobs/rewrite-job.ts'
import { claimFreeWorkDir, endAllLeftovers } from '../jobs/worker-slots.ts'
import { replaceArtifact } from './artifacts.ts'
import type { CampaignContext } from './context.ts'
import { type KnownResults, readEarlierResults } from './earlier-results.ts'
import { ANSWERS } from './open.ts'

export interface IdeaSource {
  find(request: IdeaContext): Promise<FoundIdeas>
  listProposers(campaign: Campaign, spec: Spec): string[]
  /** Runs one proposer. Stores its answer and cost for the next observation. */
  ask(who: string, request: ProposerContext): Promise<{ ok: boolean; reason: string }>
}

interface FoundIdeas {
  proposals: Proposal[]
  unopened: number
  /** Answers whose cost the ledger lacks. */
  answers: AnswerFacts[]
}

interface ProposerContext {
  campaign: Campaign
  spec: Spec
  /** Worker slot, unique among the running proposers of this process. */
  slot: number
  /** The most that models may cost which winnow asks for this idea. Null: no cap. */
  mayCostUsd: number | null
  signal: AbortSignal
}

interface IdeaContext {
  campaign: Campaign
  spec: Spec
  defaultTip: Point
  branches: ReadonlyMap<string, Oid>
  pulls: readonly Pull[]
  reverts: ReadonlyMap<EventId, RevertFacts>
  targetBranch: string | null
}

const PROPOSER_DIR = 'propose'

export function createCampaignIdeas(
  context: CampaignContext,
  extra: readonly CommandProposer[] = [],
): IdeaSource {
  const prepared: PreparedPatches = new Map()
  const patchFiles = new Map<string, PatchFile[]>()
  const storeDir = join(context.dataDir, ANSWERS)
  const say = (line: string) => context.progress.say(line)
  let leftovers: Promise<void> | null = null
  /** Backlog ideas given to a proposer, each with the key of its answer once it has answered. */
  const handedOut = new Map<EventId, string | null>()
  const angles = new Set<string>()
  const answerHeads: AnswerHeads = new Map()
  const known: KnownResults = new Map()
  const drawKey = (who: string) => buildCommandKey(who, context.random.hex(8))

  async function keepAnswer(answer: Omit<AnswerToStore, 'at'>): Promise<{ ok: boolean; reason: string }> {
    const { result } = answer
    context.faults.reach('ask:answered')
    await storeAnswer(storeDir, { ...answer, at: new Date(context.clock.now()).toISOString() })
    context.faults.reach('ask:stored')
    return result.ok ? { ok: true, reason: '' } : result
  }

  return {
    async find(request) {
      const { campaign, spec } = request
      if (request.targetBranch !== null)
        return { proposals: await findExternalIdeas(context, request), unopened: 0, answers: [] }
      const found = [...listRevertIdeas(request), ...(await buildRestoreIdeas(context, campaign))]
      if (spec.propose.some(({ use }) => use === 'external'))
        found.push(...(await findExternalIdeas(context, request)))
      const { proposals, answers } = await readStoredAnswers(storeDir, campaign, context.repository, say)
      found.push(...proposals, ...(await buildAnsweredProposals(context.repository, campaign, answerHeads)))
      const patches = await readPatchIdeas(context, request, { prepared, patchFiles })
      found.push(...patches.proposals)
      return { proposals: found, unopened: patches.unopened, answers }
    },
    listProposers: (campaign, spec) =>
      listAskedProposers(spec, extra).filter(name => !isProposerDisabled(campaign, name)),
    async ask(who, request) {
      const { campaign } = request
      await (leftovers ??= endAllLeftovers(chooseProposerDir(context).dir))
      await forgetSettled(storeDir, campaign, say)
      const informed = { ...request, earlier: await readOtherCampaigns(context, known) }
      const began = context.clock.monotonic()
      // Read before the proposer answers: the campaign continues meanwhile, but its brief does not change.
      const about = { campaign: campaign.started, who, first_unseen: campaign.next_number }
      const describeAnswer = () => {
        return { ...about, key: drawKey(who), minutes: (context.clock.monotonic() - began) / 60_000 }
      }
      if (who === TEXT_GRADIENT)
        return keepRewrite(context, informed, given => keepAnswer({ ...describeAnswer(), ...given }))
      const proposer = listCommandProposers(request.spec, extra).find(({ name }) => name === who)?.proposer
      for (const [id, key] of handedOut)
        if (key !== null && Object.hasOwn(campaign.sources, key)) handedOut.delete(id)
      const unavailable = new Set([...handedOut.keys(), ...collectHandedOutIdeas(campaign)])
      const idea = selectNextIdea(campaign, { who, handed: unavailable })
      if (idea !== null) handedOut.set(idea.id, null)
      const proposerDir = chooseProposerDir(context)
      const workDir = await claimFreeWorkDir(proposerDir.dir, request.slot)
      const angle = idea === null ? selectNextAngle(campaign, request.spec, angles) : null
      if (angle !== null) angles.add(angle)
      const answer = await askProgram(
        context,
        { who, proposer, idea, angle, workDir, ...proposerDir.runs },
        informed,
      )
        .catch((error: unknown) => {
          if (idea !== null) handedOut.delete(idea.id)
          throw error
        })
        .finally(() => angle !== null && angles.delete(angle))
      const result = answer.ok ? { ...answer, idea: mergeBacklogIdea(idea, answer.idea) } : answer
      if (!result.ok && idea !== null) handedOut.delete(idea.id)
      const described = describeAnswer()
      if (result.ok && idea !== null) handedOut.set(idea.id, described.key)
      const carried = idea === null ? {} : { carries: idea.id }
      return keepAnswer({ ...described, result, ...carried })
    },
  }
}

/** They only inform, so the proposer is asked without them where the remote cannot be read. */
async function readOtherCampaigns(
  { repository, refs, progress }: CampaignContext,
  known: KnownResults,
): Promise<PriorResult[]> {
  try {
    return await readEarlierResults(repository, refs, known)
  } catch (error) {
    if (!(error instanceof WinnowError)) throw error
    progress.say(`The brief has no results of other campaigns: ${error.message}`)
    return []
  }
}

/** Without a model the run ends, after the cost of the questions until then is stored. */
async function keepRewrite<T>(
  context: CampaignContext,
  request: ProposerContext & { earlier: readonly PriorResult[] },
  keep: (given: Pick<AskedRewrite, 'result' | 'cost'>) => Promise<T>,
): Promise<T> {
  const base = request.campaign.incumbent
  const { error, ...given } = await askForRewrite(context, { ...request, base })
  if (error !== undefined && given.cost.requests === 0) throw error
  const kept = await keep(given)
  if (error !== undefined) throw error
  return kept
}

/** The directory and the user of proposers. Root starts none of them as itself. */
function chooseProposerDir({ isolation, dataDir }: CampaignContext): {
  dir: string
  runs: { owner?: Owner }
} {
  if (isolation === undefined || !isolation.asRoot) return { dir: join(dataDir, PROPOSER_DIR), runs: {} }
  const { users } = isolation
  const owner = 'owners' in users ? users.owners.at(-1) : undefined
  if (!('owners' in users) || owner === undefined) throw new Error('root has no user to run a program as')
  const dir = join(users.dir, PROPOSER_DIR)
  makeAccessible(dir)
  return { dir, runs: { owner } }
}

interface PatchCache {
  prepared: PreparedPatches
  patchFiles: Map<string, PatchFile[]>
}

type PatchIdeas = Pick<FoundIdeas, 'proposals' | 'unopened'>

async function readPatchIdeas(
  context: CampaignContext,
  request: IdeaContext,
  { prepared, patchFiles }: PatchCache,
): Promise<PatchIdeas> {
  const { campaign, spec, defaultTip } = request
  const { incumbent } = campaign
  // The incumbent may change before patches beyond this limit are due.
  const limit = spec.merge.max_open_experiments - countOpenEngineExperiments({ campaign })
  const cached = new Map(patchFiles)
  patchFiles.clear()
  const all: PatchIdeas = { proposals: [], unopened: 0 }
  for (const proposer of spec.propose) {
    if (proposer.use !== 'patch') continue
    const key = `${defaultTip.tree} ${proposer.dir}`
    const files = cached.get(key) ?? (await readCampaignPatches(context, request, proposer.dir))
    patchFiles.set(key, files)
    const patches = { repo: context.repository, files, incumbent, fallbackBase: defaultTip, campaign }
    const proposals = limit > 0 ? await proposePatches({ ...patches, limit, prepared }) : []
    all.proposals.push(...proposals)
    all.unopened += listUntriedPatches({ campaign, files }).length - proposals.length
  }
  return all
}

/** A running campaign keeps its recorded spec, so editing the file needs an amendment. */
async function readCampaignPatches(
  { repository }: CampaignContext,
  { campaign, defaultTip }: IdeaContext,
  dir: string,
) {
  try {
    return await readPatches(repository, defaultTip.tree, dir)
  } catch (error) {
    throw error instanceof UserError ? addAmendHint(error, campaign.spec_path) : error
  }
}

function listAskedProposers(spec: Spec, extra: readonly CommandProposer[]): string[] {
  const commands = listCommandProposers(spec, extra).map(({ name }) => name)
  return spec.propose.some(({ use }) => use === 'textgrad') ? [...commands, TEXT_GRADIENT] : commands
}

/** For a proposer that the spec names as well, the spec applies. */
function listCommandProposers(spec: Spec, extra: readonly CommandProposer[]): NamedProposer[] {
  const named = nameProposers(spec.propose)
  for (const proposer of extra) {
    const name = getProposerName(proposer)
    if (named.every(each => each.name !== name)) named.push({ name, proposer })
  }
  return named
}

async function findExternalIdeas(context: CampaignContext, request: IdeaContext): Promise<Proposal[]> {
  const { campaign, branches, pulls, spec } = request
  const facts = { campaign, prefix: spec.branches.prefix, pulls, branches }
  const tips = listExternalTips(facts)
  await context.repository.fetch(
    tips.map(({ branch, head, pull }) => ({
      ref: getHeadRef({ branch, number: pull?.number ?? 0 }),
      oid: head,
    })),
  )
  const messages = new Map<string, string>()
  for (const { head } of tips) messages.set(head, (await context.repository.commit(head)).message)
  return buildExternalProposals(facts, messages)
}

/** The incumbent with one file as it was. Like a revert, it has to pass the gates and needs no gain. */
async function buildRestoreIdeas({ repository }: CampaignContext, campaign: Campaign): Promise<Proposal[]> {
  const { incumbent } = campaign
  const found = campaign.restores.map(async (request): Promise<Proposal> => {
    const { artifact, version, path, blob, reason } = request
    const hypothesis = toSafeLine(`restore ${artifact} v${version}: ${reason}`, 300)
    const { committer } = await repository.commit(incumbent.commit)
    const tree = await replaceArtifact(repository, incumbent.tree, { path, blob })
    const commit = { tree, parents: [incumbent.commit], message: `${hypothesis}\n`, date: committer.date }
    const head =
      tree === incumbent.tree
        ? { rejected: `${artifact} has the content of v${version} already` }
        : { commit: await repository.writeCommit(commit), base: incumbent }
    return {
      hypothesis,
      category: 'revert',
      priority: 'high',
      required_deps: [],
      family: null,
      source: { use: 'revert', key: buildRestoreKey(request) },
      learnings: null,
      head,
      branch: null,
      pull: null,
      restores: artifact,
    }
  })
  return Promise.all(found)
}

/** A landing that cannot be reverted directly becomes a revert experiment, or is refused. */
function listRevertIdeas({ campaign, reverts }: IdeaContext): Proposal[] {
  return [...reverts].flatMap(([eventId, { landing, result }]): Proposal | [] => {
    if (!('conflict' in result) && result.measuredIn !== null) return []
    const head =
      'conflict' in result
        ? { rejected: `${landing} cannot be reverted: conflict in ${result.conflict.slice(0, 5).join(', ')}` }
        : { commit: result.head, base: campaign.incumbent }
    return {
      hypothesis: `revert ${landing}: ${campaign.experiments[landing]?.hypothesis ?? ''}`,
      category: 'revert',
      priority: 'high',
      required_deps: [],
      family: null,
      source: { use: 'revert', key: `revert:${eventId}` },
      learnings: null,
      head,
      branch: null,
      pull: null,
      reverts: landing,
    }
  })
}
