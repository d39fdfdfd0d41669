import { describeStop } from '../model/describe-status.ts'
import type { ControllerContext } from '../engine/apply.ts'
import { requireHome } from '../engine/home.ts'
import { recordEvents } from '../engine/record.ts'
import { runCampaign } from '../engine/run.ts'
import { openController, requireCampaign } from '../engine/session.ts'
import { ConflictError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { EXIT_CODES, WAITING_EXIT_CODE } from '../model/outcome.ts'
import { toShortRef } from '../model/refs.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { isTargetSettled, findTargetExperiment } from '../plan/only.ts'
import type { World } from '../plan/world.ts'
import { describeWaiting } from '../report/sentence.ts'
import {
  buildTryAnswer,
  renderTryAnswer,
  buildUnmeasuredAnswer,
  toTryExitCode,
  type TryAnswer,
} from '../report/try-answer.ts'
import { withCampaign, type CommandContext } from './at-campaign.ts'
import type { Call } from './call.ts'
import { readDefaultTip } from './default-branch.ts'
import { isAlreadyCommitted, describeNothingToTry, type DiffState, classifyDiff } from './earlier-try.ts'
import { gatherResults } from './gather-results.ts'
import { addToBacklog } from './idea.ts'
import { CATEGORY, FAMILY } from './idea-block.ts'
import { observeWorld, tickWithoutMeasuring } from './looking.ts'
import { proposeDiff, getGivenHypothesis } from './offer-diff.ts'
import { type RefusedTry, readOwnDiff, type OwnDiff } from './own-diff.ts'
import { listPullNumbers } from './pull-numbers.ts'
import { openOrStartCampaign } from './run.ts'
import { hasFailingBase } from './run-exit.ts'
import { readActiveSpec, explainWaitingSpec } from './scope-of-try.ts'
import { formatMergeCommand } from './take-command.ts'
import { describeOpenRound, explainHold } from './try-held.ts'
import type { Verb } from './verb.ts'

export const tryVerb: Verb = {
  name: 'try',
  group: 'start',
  summary: 'measure what you just changed, and say whether it is kept',
  access: 'write',
  arguments: [],
  options: [
    { name: 'message', short: 'm', value: 'hypothesis', summary: 'what changes, and why it should help' },
    CATEGORY,
    { name: 'needs', value: 'package', many: true, summary: 'a package that it adds, to be approved' },
    FAMILY,
    { name: 'idea', value: 'idea', summary: 'the idea of the backlog that this carries out' },
    { name: 'only-in-scope', summary: 'leave out what is changed outside the scope, instead of refusing' },
    { name: 'json', summary: 'print the answer as JSON; progress goes to stderr' },
  ],
  examples: [
    'winnow try -m "cache the parsed header"',
    'winnow try --json',
    'winnow try -m "drop the copy" --category allocation --only-in-scope',
  ],
  exits: {
    [EXIT_CODES.kept]: 'kept: it is merged into the optimize branch',
    [EXIT_CODES['no gain']]: 'no gain: a gain worth having is ruled out',
    [EXIT_CODES['not proven']]: 'not proven yet',
    [EXIT_CODES.refused]: 'refused: nothing changed, out of scope, or in conflict',
    [EXIT_CODES.broken]: 'broken: a gate or the harness failed',
    [WAITING_EXIT_CODE]: 'waiting for a person, an approval or a machine',
    [EXIT_CODES.worse]: 'worse: harm is shown',
    130: 'interrupted; the same command goes on',
  },
  comment: {
    options: ['message', CATEGORY.name, 'needs', FAMILY.name],
    run: call =>
      withCampaign(call, { access: 'write', startedOnly: true }, scene => addToBacklog(call, scene)),
  },
  run(call) {
    const here = { ...call, around: { ...call.around, preferMain: true } }
    const wanted = { access: 'write', startedOnly: false, announce: true } as const
    return withCampaign(here, wanted, scene => runTry(here, scene))
  },
}

async function runTry(call: Call, scene: CommandContext): Promise<number> {
  const answer = await tryOwnDiff(call, scene)
  if (answer === null) return 0
  if (call.interrupt.aborted) {
    call.terminal.err(`interrupted: type the same again, and ${answer.id ?? 'it'} goes on`)
    return 130
  }
  if (scene.dryRun !== null) scene.dryRun.answered = true
  if (call.given.flag('json')) call.terminal.json(answer)
  else for (const line of renderTryAnswer(answer)) call.terminal.out(line)
  return toTryExitCode(answer)
}

/** Null where nothing was measured because it was a rehearsal. */
async function tryOwnDiff(call: Call, scene: CommandContext): Promise<TryAnswer | null> {
  const { campaign: known, place } = scene
  if (known.started) requireHome(place, (await requireCampaign(place)).loaded.campaign)
  const diff = await readOwnDiff({
    workshop: scene.workshop,
    env: call.around.env,
    spec: await readActiveSpec(scene),
    message: call.given.text('message') ?? (await getGivenHypothesis(call, scene)),
    onlyInScope: call.given.flag('only-in-scope'),
  })
  if ('code' in diff) return buildRefusalAnswer(scene, await explainWaitingSpec(call, scene, diff), [])
  printLeftOut(call, diff)
  if (await hasNothingToTry(call, scene, diff))
    return buildRefusalAnswer(scene, describeNothingToTry(scene.place.name), diff.leftOut)
  const here = await openOrStartCampaign(call, scene)
  const world = await observeWorld(call, here)
  if (world === null) throw new ConflictError('the campaign is not there yet', [])
  return tryDiffInWorld(call, here, { world, diff })
}

/** No campaign is begun for nothing. */
async function hasNothingToTry(
  { around }: Call,
  { campaign, workshop }: CommandContext,
  diff: OwnDiff,
): Promise<boolean> {
  if (campaign.started) return false
  const { commit } = await readDefaultTip(workshop, around)
  return isAlreadyCommitted(workshop.repository, diff, commit)
}

function printLeftOut({ terminal }: Call, { leftOut }: OwnDiff): void {
  for (const path of leftOut.slice(0, 5)) {
    const why = path.endsWith('/') ? 'a repository of its own' : 'outside the scope'
    terminal.err(`note: ${path} is ${why} and left out`)
  }
  if (leftOut.length > 5) terminal.err(`note: and ${leftOut.length - 5} more`)
}

interface KnownDiff {
  world: World
  diff: OwnDiff
}

async function tryDiffInWorld(
  call: Call,
  scene: CommandContext,
  known: KnownDiff,
): Promise<TryAnswer | null> {
  const standing = await classifyDiff(scene.place.repository, known.world, known.diff)
  if (standing.is === 'refused') return buildRefusalAnswer(scene, standing, known.diff.leftOut)
  if (standing.is === 'known' && standing.experiment.status === 'ended') {
    const { campaign } = known.world
    return buildVerdictAnswer(call, scene, {
      campaign,
      diff: known.diff,
      experiment: standing.experiment,
      before: true,
    })
  }
  if (hasFailingBase(known.world.campaign))
    return buildBrokenBaseAnswer(scene, known.world.campaign, known.diff)
  const held = await explainHold(scene, known.world)
  if (held !== null) return buildWaitingAnswer(scene, held, known.diff)
  return measureDiff(call, scene, known, standing)
}

async function measureDiff(
  call: Call,
  scene: CommandContext,
  known: KnownDiff,
  standing: MeasurableDiff,
): Promise<TryAnswer | null> {
  const { world, diff } = known
  await resumeTriedCampaign(scene, world, standing)
  const branch = await getTryBranch(call, scene, world, standing)
  if (scene.dryRun !== null || branch === null) {
    await tickWithoutMeasuring(call, scene)
    return null
  }
  const first = describeOpenRound(world.campaign, branch)
  if (first !== null) scene.place.progress.say(first)
  if (standing.is === 'new' && standing.diff !== diff) scene.place.progress.say(FOLLOWS)
  const hands = await openController(scene.place, call.interrupt, { targetBranch: branch })
  const enough = (campaign: Campaign) => isTargetSettled(campaign, branch)
  const waiting = await runCampaign(hands, { signal: call.interrupt, watch: false, enough })
  return buildResultAnswer(call, scene, { campaign: await loadTriedCampaign(hands), waiting, branch, diff })
}

/** Whether a line was changed again or put back, nobody can tell but who did it. */
const FOLLOWS =
  'HEAD lacks an idea of its own that was kept: your files are taken as they are, as what follows it; what you put back counts as part of this idea'

type MeasurableDiff = Exclude<DiffState, { is: 'refused' }>

async function getTryBranch(
  call: Call,
  scene: CommandContext,
  { campaign }: World,
  standing: MeasurableDiff,
): Promise<string | null> {
  if (standing.is === 'known') return standing.experiment.branch
  return proposeDiff(call, scene, { campaign, diff: standing.diff })
}

/** What ended by itself goes on with a new idea; what was not proven is given more jobs. */
async function resumeTriedCampaign(
  { place, dryRun: rehearsal }: CommandContext,
  { campaign }: World,
  standing: MeasurableDiff,
): Promise<void> {
  if (rehearsal !== null) return
  if (campaign.status === 'stopped') {
    place.progress.say(`${describeStop(campaign)}: it goes on with this idea`)
    await recordEvents(place, [{ kind: 'campaign-resumed', reason: 'winnow try brings an idea' }])
  }
  if (standing.is !== 'known' || standing.experiment.status !== 'parked') return
  const { id } = standing.experiment
  const reason = 'winnow try asks for more jobs'
  await recordEvents(place, [{ kind: 'steered', action: 'retry', experiment: id, reason }])
}

async function loadTriedCampaign({ memory, place }: ControllerContext): Promise<Campaign> {
  return memory.loaded?.campaign ?? (await requireCampaign(place)).loaded.campaign
}

interface TryResult {
  campaign: Campaign
  waiting: PlanWaiting
  branch: string
  diff: OwnDiff
}

async function buildResultAnswer(call: Call, scene: CommandContext, result: TryResult): Promise<TryAnswer> {
  const { campaign, waiting, branch, diff } = result
  const experiment = findTargetExperiment(campaign, branch)
  if (hasFailingBase(campaign)) return buildBrokenBaseAnswer(scene, campaign, diff)
  if (experiment === undefined) return buildWaitingAnswer(scene, describeWaiting(waiting), diff)
  // What one idea waits for, its own verdict says; all others would be named here too.
  const another = experiment.verdict === null && experiment.status !== 'deferred'
  const said = waiting.for === 'person' && another ? waiting.what : null
  return buildVerdictAnswer(call, scene, { campaign, experiment, diff, before: false, waiting: said })
}

interface TryVerdict {
  campaign: Campaign
  experiment: Experiment
  diff: OwnDiff
  before: boolean
  waiting?: string | null
}

async function buildVerdictAnswer(
  call: Call,
  scene: CommandContext,
  verdict: TryVerdict,
): Promise<TryAnswer> {
  const { campaign, experiment, diff, before, waiting = null } = verdict
  const numbers = await listPullNumbers(scene.place, campaign)
  const [measured] = await gatherResults(scene, [experiment], numbers)
  if (measured === undefined) throw new Error(`${experiment.id} has no results`)
  return buildTryAnswer(campaign, experiment, {
    measured,
    optimize: toShortRef(scene.place.refs.optimize),
    pr: experiment.pull ?? numbers.get(experiment.branch ?? '') ?? null,
    triedBefore: before,
    leftOut: diff.leftOut,
    take: formatMergeCommand(call, scene, diff),
    waiting,
  })
}

function buildRefusalAnswer(
  { campaign: { name } }: CommandContext,
  { message, next }: RefusedTry,
  leftOut: readonly string[],
) {
  return buildUnmeasuredAnswer({ campaign: name, verdict: 'refused', message, next, leftOut })
}

function buildWaitingAnswer(
  { campaign: { name } }: CommandContext,
  message: string,
  { leftOut }: OwnDiff,
): TryAnswer {
  const next = 'see to that, then type the same again'
  return buildUnmeasuredAnswer({ campaign: name, verdict: 'waiting for a person', message, next, leftOut })
}

function buildBrokenBaseAnswer(
  { campaign: { name } }: CommandContext,
  { status_reason }: Campaign,
  { leftOut }: OwnDiff,
) {
  const message = `the base itself fails, also without your change: ${status_reason?.split('\n', 1)[0] ?? ''}`
  const next =
    'mend what is missing on this machine, or commit (and push) what is wrong in the repository; then winnow resume, and the same again'
  return buildUnmeasuredAnswer({ campaign: name, verdict: 'broken', message, next, leftOut })
}
