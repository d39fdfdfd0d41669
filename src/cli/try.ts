import { getWhereabouts, requireHome } from '../engine/campaign/context.ts'
import { readCommittedSpec, requireSupportedSpec } from '../engine/campaign/start.ts'
import { submitIdea } from '../engine/campaign/submit.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { openController, requireCampaign, runCampaign } from '../engine/controller/run.ts'
import { ConflictError, UserError } from '../errors.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import { type Experiment, isUndecided } from '../model/experiment.ts'
import { formatIdeaName } from '../model/fold/proposers.ts'
import { toShortRef } from '../model/ids.ts'
import { describeStandstill, describeStop } from '../model/status.ts'
import { EXIT_CODES, WAITING_EXIT_CODE } from '../model/verdict.ts'
import { findDueStop, isLimitRaised } from '../plan/stop.ts'
import { describeSyncState } from '../plan/sync.ts'
import { findTargetExperiment, isTargetSettled, type World } from '../plan/world.ts'
import { describeLimitRaise } from '../report/resume-hint.ts'
import {
  buildTryAnswer,
  buildUnmeasuredAnswer,
  renderTryAnswer,
  type TryAnswer,
  toTryExitCode,
} from '../report/try-answer.ts'
import { describeWaiting } from '../report/verdict-text.ts'
import type { Spec } from '../spec/schema.ts'
import { toTypedPath, withCampaign } from './context.ts'
import { readDefaultTip } from './default-branch.ts'
import { addToBacklog } from './idea.ts'
import { CATEGORY, FAMILY, renderIdeaMessage } from './propose.ts'
import { getSpecPath, hasFailingBase, openOrStartCampaign, readCurrentCampaign } from './run.ts'
import { gatherResults } from './status.ts'
import { findNamedIdea, listPullNumbers } from './subjects.ts'
import { observeWorld, tickWithoutMeasuring } from './tick.ts'
import {
  classifyDiff,
  type DiffState,
  describeNothingToTry,
  isAlreadyCommitted,
  type OwnDiff,
  type RefusedTry,
  readOwnDiff,
} from './try-diff.ts'
import type { Call, CommandContext, Verb } from './verb.ts'

/** winnow cannot tell an undone line from an edited one. */
const FOLLOW_UP_NOTE =
  'note: HEAD does not contain your kept change. winnow compares your files with the incumbent, which does: lines that you restored count as part of this change'

const PLAIN_PATH = /^[\w./-]+$/
const MAX_STASHED_PATHS = 3

interface KnownDiff {
  world: World
  diff: OwnDiff
}

type MeasurableDiff = Exclude<DiffState, { is: 'refused' }>

interface TryVerdict {
  campaign: Campaign
  experiment: Experiment
  diff: OwnDiff
  triedBefore: boolean
  waiting: string | null
}

export const tryVerb: Verb = {
  name: 'try',
  group: 'start',
  summary: 'measure your uncommitted change, and keep it if it is better',
  access: 'write',
  options: [
    { name: 'message', short: 'm', value: 'hypothesis', summary: 'what changes, and why it should help' },
    CATEGORY,
    {
      name: 'needs',
      value: 'package',
      many: true,
      summary: 'a package that the change adds; a person has to approve it',
    },
    FAMILY,
    { name: 'idea', value: 'idea', summary: 'the idea of the backlog that the change implements' },
    { name: 'only-in-scope', summary: 'ignore changes outside the scope instead of refusing' },
    { name: 'json', summary: 'print the answer as JSON; progress goes to stderr' },
  ],
  examples: [
    'winnow try -m "cache the parsed header"',
    'winnow try --json',
    'winnow try -m "drop the copy" --category allocation --only-in-scope',
  ],
  exits: {
    [EXIT_CODES.kept]: 'kept: it is merged into the optimize branch',
    [EXIT_CODES['no gain']]: 'no gain: a relevant gain is ruled out',
    [EXIT_CODES['not proven']]: 'not proven yet',
    [EXIT_CODES.refused]: 'refused: nothing changed, out of scope, or in conflict',
    [EXIT_CODES.broken]: 'broken: a gate or the harness failed',
    [WAITING_EXIT_CODE]: 'waiting for a person, an approval or another machine',
    [EXIT_CODES.worse]: 'worse: harm is shown',
    130: 'interrupted; repeat the command to continue',
  },
  comment: {
    options: ['message', CATEGORY.name, 'needs', FAMILY.name],
    run: addToBacklog,
  },
  run(call) {
    const here = { ...call, environment: { ...call.environment, preferMain: true } }
    const wanted = { access: 'write', startedOnly: false, announce: true } as const
    return withCampaign(here, wanted, context => runTry(here, context))
  },
}

async function runTry(call: Call, context: CommandContext): Promise<number> {
  const answer = await tryOwnDiff(call, context)
  if (answer === null) return 0
  if (call.interrupt.aborted) {
    call.terminal.err(
      `interrupted: repeat the command to continue${answer.id === null ? '' : ` ${answer.id}`}`,
    )
    return 130
  }
  if (context.dryRun !== null) context.dryRun.printed = true
  if (call.given.flag('json')) call.terminal.json(answer)
  else for (const line of renderTryAnswer(answer)) call.terminal.out(line)
  return toTryExitCode(answer)
}

/** Returns null for a dry run that measured nothing. */
async function tryOwnDiff(call: Call, context: CommandContext): Promise<TryAnswer | null> {
  const { campaign: known, campaignContext } = context
  if (known.started) requireHome(campaignContext, (await requireCampaign(campaignContext)).loaded.campaign)
  const diff = await readOwnDiff({
    repositoryContext: context.repositoryContext,
    env: call.environment.env,
    spec: await readActiveSpec(context),
    message: await readHypothesis(call, context),
    onlyInScope: call.given.flag('only-in-scope'),
  })
  if ('code' in diff) return buildRefusalAnswer(context, await explainWaitingSpec(call, context, diff), [])
  printLeftOut(call, diff)
  if (await hasNothingToTry(call, context, diff))
    return buildRefusalAnswer(context, describeNothingToTry(context.campaignContext.name), diff.leftOut)
  const here = await openOrStartCampaign(call, context)
  const world = await observeWorld(call, here)
  if (world === null) throw new ConflictError('the campaign is not there yet', [])
  return tryDiffInWorld(call, here, { world, diff })
}

/** Uses the spec in force, even if the default branch has a newer one (invariant 4). */
async function readActiveSpec(context: CommandContext): Promise<Spec> {
  if (context.campaign.started) return (await requireCampaign(context.campaignContext)).spec
  const committed = await readCommittedSpec(context.campaignContext, getSpecPath(context))
  requireSupportedSpec(committed, getWhereabouts(context.campaignContext.forge))
  return committed.spec
}

/** Uses the backlog idea's hypothesis if no message is given. Fails before a campaign is started for nothing. */
async function readHypothesis(
  { given }: Call,
  { campaign: known, campaignContext }: CommandContext,
): Promise<string | undefined> {
  const name = given.text('idea')
  if (name === undefined) return given.text('message')
  if (!known.started)
    throw new UserError(
      `there is no ${name}: campaign ${known.name} has not started, so its backlog is empty`,
      {
        fix: 'leave --idea out, and describe the change with -m',
      },
    )
  const { hypothesis } = findNamedIdea((await requireCampaign(campaignContext)).loaded.campaign, name)
  return given.text('message') ?? hypothesis
}

function printLeftOut({ terminal }: Call, { leftOut }: OwnDiff): void {
  for (const path of leftOut.slice(0, 5)) {
    const why = path.endsWith('/') ? 'a separate repository' : 'outside the scope'
    terminal.err(`note: winnow ignores ${path}, which is ${why}`)
  }
  if (leftOut.length > 5) terminal.err(`note: and ${leftOut.length - 5} more`)
}

/** Explains how a scope change on the default branch comes into force. */
async function explainWaitingSpec(
  call: Call,
  context: CommandContext,
  refused: RefusedTry,
): Promise<RefusedTry> {
  if (refused.code !== 'out-of-scope' || !context.campaign.started) return refused
  const sync = (await observeWorld(call, context))?.sync ?? null
  if (sync?.result !== 'clean' || !sync.spec.changed) return refused
  const branch = toShortRef(context.campaignContext.defaultBranch)
  const next = `run winnow run, which adopts the spec on ${branch}; then repeat the command`
  return { ...refused, message: `${refused.message}, by the spec in force`, next }
}

/** Avoids starting a campaign without an idea. */
async function hasNothingToTry(
  { environment }: Call,
  { campaign, repositoryContext }: CommandContext,
  diff: OwnDiff,
): Promise<boolean> {
  if (campaign.started) return false
  const { commit } = await readDefaultTip(repositoryContext, environment)
  return isAlreadyCommitted(repositoryContext.repository, diff, commit)
}

async function tryDiffInWorld(
  call: Call,
  context: CommandContext,
  known: KnownDiff,
): Promise<TryAnswer | null> {
  const state = await classifyDiff(context.campaignContext.repository, known.world, known.diff)
  if (state.is === 'refused') return buildRefusalAnswer(context, state, known.diff.leftOut)
  const { world, diff } = known
  const { campaign } = world
  if (state.is === 'known' && state.experiment.status === 'ended') {
    const { experiment } = state
    return buildVerdictAnswer(call, context, { campaign, diff, experiment, triedBefore: true, waiting: null })
  }
  if (hasFailingBase(campaign)) return buildBrokenBaseAnswer(context, campaign, diff)
  const hold = await explainHold(context, world)
  if (hold !== null) return buildWaitingAnswer(context, hold, diff)
  return measureDiff(call, context, known, state)
}

/** Returns the reason why nothing may be measured now. Pauses and stop rules apply to `try` as to `run`. */
async function explainHold({ campaignContext }: CommandContext, world: World): Promise<string | null> {
  const { status, status_source } = world.campaign
  if (status === 'paused' || (status === 'stopped' && status_source === 'person'))
    return `${describeStandstill(world.campaign)}; winnow resume continues it`
  const stop = isLimitRaised(world) ? null : findDueStop(world)
  // An empty backlog does not matter, because this command brings an idea.
  if (stop !== null && stop.code !== 'empty_backlog')
    return `the campaign is over: ${stop.reason}; ${describeLimitRaise(world.campaign, stop.code, describeSyncState(world.sync))}`
  const [hold] = await campaignContext.repository.worktreesHolding([campaignContext.refs.optimize])
  if (hold === undefined) return null
  const branch = toShortRef(hold.branch)
  return `${branch} is checked out in ${hold.path}, and winnow moves no branch that is checked out: git switch -c my-idea`
}

async function measureDiff(
  call: Call,
  context: CommandContext,
  known: KnownDiff,
  state: MeasurableDiff,
): Promise<TryAnswer | null> {
  const { world, diff } = known
  await resumeTriedCampaign(context, world, state)
  const branch =
    state.is === 'known'
      ? state.experiment.branch
      : await proposeDiff(call, context, world.campaign, state.diff)
  if (context.dryRun !== null || branch === null) {
    await tickWithoutMeasuring(call, context)
    return null
  }
  const first = describeOpenRound(world.campaign, branch)
  if (first !== null) context.campaignContext.progress.say(first)
  if (state.is === 'new' && state.diff !== diff) context.campaignContext.progress.say(FOLLOW_UP_NOTE)
  const controller = await openController(context.campaignContext, call.interrupt, { targetBranch: branch })
  const enough = (campaign: Campaign) => isTargetSettled(campaign, branch)
  const waiting = await runCampaign(controller, { signal: call.interrupt, watch: false, enough })
  const campaign = await readCurrentCampaign(controller)
  const experiment = findTargetExperiment(campaign, branch)
  if (hasFailingBase(campaign)) return buildBrokenBaseAnswer(context, campaign, diff)
  if (experiment === undefined) return buildWaitingAnswer(context, describeWaiting(waiting), diff)
  // Show only this idea's reason. The waiting text would name all other ideas too.
  const isWaiting = isUndecided(experiment) && experiment.status !== 'deferred'
  const reason = waiting.for === 'person' && isWaiting ? waiting.what : null
  return buildVerdictAnswer(call, context, {
    campaign,
    experiment,
    diff,
    triedBefore: false,
    waiting: reason,
  })
}

/** The name derives from the files and the incumbent, so that a repeated command reuses the branch. */
async function proposeDiff(
  { given }: Call,
  { campaignContext }: CommandContext,
  campaign: Campaign,
  diff: OwnDiff,
): Promise<string> {
  const { commit, hypothesis } = diff
  const idea = findGivenIdea(given, campaign)
  const message = renderIdeaMessage({
    hypothesis,
    category: given.text('category') ?? idea?.category,
    priority: 'high',
    required_deps: [...(idea?.required_deps ?? []), ...given.texts('needs')],
    family: given.text('family') ?? idea?.family ?? undefined,
    idea: idea === null ? undefined : formatIdeaName(idea),
  })
  const identity = toCanonicalJson([diff.head, diff.tree, campaign.incumbent.commit])
  const name = `try-${hashSha256(identity).slice(0, 12)}`
  return submitIdea(campaignContext, { commit, from: null, isOurs: commit !== diff.head, name, message })
}

function findGivenIdea(given: Call['given'], campaign: Campaign): BacklogIdea | null {
  const name = given.text('idea')
  return name === undefined ? null : findNamedIdea(campaign, name)
}

/** Resumes a campaign that stopped by itself. Gives more jobs to an experiment that is not proven yet. */
async function resumeTriedCampaign(
  { campaignContext, dryRun }: CommandContext,
  { campaign }: World,
  state: MeasurableDiff,
): Promise<void> {
  if (dryRun !== null) return
  if (campaign.status === 'stopped') {
    campaignContext.progress.say(`${describeStop(campaign)}: it continues with this idea`)
    const reason = 'winnow try submitted an idea'
    await recordEvents(campaignContext, [{ kind: 'campaign-resumed', reason }])
  }
  if (state.is !== 'known' || state.experiment.status !== 'not-proven') return
  const { id } = state.experiment
  const reason = 'winnow try requested more jobs'
  await recordEvents(campaignContext, [{ kind: 'steered', action: 'retry', experiment: id, reason }])
}

// Answers

async function buildVerdictAnswer(
  call: Call,
  context: CommandContext,
  verdict: TryVerdict,
): Promise<TryAnswer> {
  const { campaign, experiment, diff, triedBefore, waiting } = verdict
  const numbers = await listPullNumbers(context.campaignContext, campaign)
  const [measured] = await gatherResults(context, [experiment], numbers)
  if (measured === undefined) throw new Error(`${experiment.id} has no results`)
  return buildTryAnswer(campaign, experiment, {
    measured: measured.results,
    optimize: toShortRef(context.campaignContext.refs.optimize),
    pr: experiment.pull ?? numbers.get(experiment.branch ?? '') ?? null,
    triedBefore,
    leftOut: diff.leftOut,
    take: formatMergeCommand(call, context, diff),
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
  const next = 'fix that, then repeat the command'
  return buildUnmeasuredAnswer({ campaign: name, verdict: 'waiting for a person', message, next, leftOut })
}

function buildBrokenBaseAnswer(
  { campaign: { name } }: CommandContext,
  { status_reason }: Campaign,
  { leftOut }: OwnDiff,
) {
  const message = `the base itself fails, also without your change: ${status_reason?.split('\n', 1)[0] ?? ''}`
  const next =
    'install what is missing on this machine, or commit (and push) a fix; then run winnow resume, and repeat the command'
  return buildUnmeasuredAnswer({ campaign: name, verdict: 'broken', message, next, leftOut })
}

/** An open round finishes first. Returns null if it contains only this idea. */
export function describeOpenRound(
  { round, experiments }: Pick<Campaign, 'round' | 'experiments'>,
  branch: string,
): string | null {
  const others = round?.open ? round.members.filter(id => experiments[id]?.branch !== branch) : []
  if (!round || others.length === 0) return null
  return `round ${round.number} is running (${others.join(', ')}): ${branch} is measured after it`
}

/** Stashes uncommitted files first: they would block the merge, which already contains them. */
function formatMergeCommand(
  call: Call,
  { campaignContext, repositoryContext }: CommandContext,
  diff: OwnDiff,
): string {
  const { environment } = call
  const optimize = toShortRef(campaignContext.refs.optimize)
  const { remotes } = repositoryContext.checkout
  const remote = (remotes.find(({ name }) => name === (environment.remote ?? 'origin')) ?? remotes[0])?.name
  const merge =
    campaignContext.local || remote === undefined
      ? `git merge ${optimize}`
      : `git fetch ${remote} && git merge ${remote}/${optimize}`
  const paths = diff.uncommitted.map(path => toTypedPath(call, repositoryContext, path))
  if (paths.length === 0) return merge
  if (paths.length > MAX_STASHED_PATHS || !paths.every(path => PLAIN_PATH.test(path)))
    return `git stash${diff.addsFiles ? ' --include-untracked' : ''} && ${merge}`
  return `git stash push --include-untracked -- ${paths.join(' ')} && ${merge}`
}
