import { toSentenceCase } from '../model/text.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import {
  type ApprovalRequest,
  describeRequest,
  getShortDigest,
  listAwaitedFindings,
  listAwaitedPackages,
  SHORT_DIGEST_LENGTH,
} from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import { type Experiment, listSubjects } from '../model/experiment.ts'
import { canHaveExtraRound } from '../plan/extra-round.ts'
import { formatApproveCommand, listAwaitingApproval, renderApprovalRequest } from '../report/approval.ts'
import { getExperimentState } from '../report/experiment-state.ts'
import { describeNextRun, describeResumeHint } from '../report/resume-hint.ts'
import { renderStateSentence } from '../report/verdict-text.ts'
import { changeCampaign } from './context.ts'
import { findNamedExperiment } from './subjects.ts'
import type { Call, CommandContext, CommentSource, Verb } from './verb.ts'

const SET_DIGEST = /^[0-9a-f]{8,64}$/

interface ApprovalTarget {
  campaign: Campaign
  experiment: Experiment
  packages: readonly string[]
  /** Digest that the person typed, or its beginning. */
  set: string | undefined
}

export const approveVerb: Verb = {
  name: 'approve',
  group: 'steer',
  summary: 'approve new dependencies or held changes; without arguments, list them',
  access: 'write',
  arguments: [
    {
      name: 'exp',
      summary: 'the experiment, or the digest of its set of packages',
      subject: true,
    },
    { name: 'package', summary: 'approve only these packages', many: true },
  ],
  options: [
    { name: 'digest', value: 'set', summary: 'approve only if the set still has this digest' },
    { name: 'all', summary: 'approve the packages of every experiment; held changes are read one by one' },
    { name: 'json', summary: 'print JSON' },
  ],
  examples: [
    'winnow approve',
    'winnow approve exp-007',
    'winnow approve exp-007 left-pad --dry-run',
    'winnow approve --all',
  ],
  comment: { options: ['digest'], alias: 'approve-deps' },
  run(call) {
    const [exp, ...packages] = call.given.positionals
    const digest = call.given.text('digest')
    if (exp === undefined && digest !== undefined)
      throw new UserError('--digest is about the set of one experiment', {
        fix: `winnow approve <exp> --digest ${digest}`,
      })
    if (digest !== undefined && SET_DIGEST.test(exp ?? ''))
      throw new UserError(`${exp} is the digest of a set, as --digest is`, { fix: 'give one of the two' })
    return changeCampaign(call, async (context, campaign) => {
      if (call.given.flag('all')) return approveAllPackages(call, context, campaign)
      if (exp === undefined) return printWaitingApprovals(call, context, campaign)
      const set = SET_DIGEST.test(exp) ? exp : digest
      const experiment = SET_DIGEST.test(exp)
        ? findExperimentBySet(campaign, exp)
        : findNamedExperiment(campaign, exp)
      if (call.comment)
        await requireOtherAuthor(call.comment, context.campaignContext.by.actor, { experiment, set })
      return giveApproval(call, context, { campaign, experiment, packages, set })
    })
  },
}

function findExperimentBySet(campaign: Campaign, set: string): Experiment {
  const all = listSubjects(campaign).filter(({ approval }) => approval?.digest.startsWith(set))
  const found = all.find(({ status }) => status === 'deferred') ?? all[0]
  if (found !== undefined) return found
  throw new UserError(`no experiment is waiting for approval of the set ${set.slice(0, 12)}`, {
    fix: 'winnow approve lists pending approvals',
  })
}

/** The set can change before this run, so the comment must name a digest. Authors cannot approve. */
async function requireOtherAuthor(
  { headAuthors }: CommentSource,
  actor: string,
  { experiment, set }: Pick<ApprovalTarget, 'experiment' | 'set'>,
): Promise<void> {
  const { id, approval } = experiment
  if (set === undefined) {
    throw new UserError(`give the digest of what you reviewed in ${id}`, {
      fix: approval === null ? '/winnow approve <set>' : formatApproveComment(approval),
    })
  }
  const authors = await headAuthors(id)
  if (authors === null) return
  if (authors.logins.includes(actor.toLowerCase()))
    throw new UserError(`${id} is yours: another person has to approve it`)
  if (authors.known) return
  throw new UserError(`GitHub does not say who pushed the head of ${id}, so two people have to approve it`, {
    fix: 'approving reviews of two people, or winnow approve in a clone',
  })
}

function printWaitingApprovals(
  { given, terminal }: Call,
  { dryRun, repositoryContext: { remote } }: CommandContext,
  campaign: Campaign,
): void {
  const waiting = listAwaitingApproval(campaign)
  if (dryRun !== null) dryRun.printed = true
  if (given.flag('json'))
    return terminal.json({ campaign: campaign.name, waiting: waiting.map(toRequestView) })
  if (waiting.length === 0) terminal.out('No approvals are pending.')
  for (const experiment of waiting)
    for (const line of [...renderApprovalRequest(experiment, { incumbent: campaign.incumbent, remote }), ''])
      terminal.out(line)
  const [first] = waiting
  if (first !== undefined) terminal.out(`To approve ${first.id}: ${formatApproveCommand(first)}`)
}

function toRequestView(experiment: Experiment) {
  const { id, hypothesis, approval } = experiment
  const { digest = null, additions = [], findings = [] } = approval ?? {}
  return {
    experiment: id,
    hypothesis,
    digest,
    packages: listAwaitedPackages(experiment),
    additions,
    findings,
  }
}

async function giveApproval(call: Call, context: CommandContext, target: ApprovalTarget): Promise<void> {
  const given = await recordApproval(call, context, target)
  if (given === null) return
  if (call.given.flag('json')) call.terminal.json({ campaign: target.campaign.name, ...given.view })
  else call.terminal.out(given.text)
}

/** A person has looked at the list that winnow approve prints. Changes that are held have to be read, not listed. */
async function approveAllPackages(call: Call, context: CommandContext, campaign: Campaign): Promise<void> {
  const { given, terminal } = call
  if (given.positionals.length > 0 || given.text('digest') !== undefined)
    throw new UserError('--all is about every experiment', { fix: 'winnow approve --all' })
  const waiting = listAwaitingApproval(campaign)
  const held = waiting.filter(experiment => listAwaitedFindings(experiment).length > 0)
  const approved: GivenApproval[] = []
  for (const experiment of waiting.filter(each => !held.includes(each))) {
    const done = await recordApproval(call, context, { campaign, experiment, packages: [], set: undefined })
    if (done !== null) approved.push(done)
  }
  if (context.dryRun !== null) return
  if (given.flag('json')) {
    const views = approved.map(({ view }) => view)
    return terminal.json({ campaign: campaign.name, approved: views, held: held.map(({ id }) => id) })
  }
  if (waiting.length === 0) terminal.out('No approvals are pending.')
  for (const { text } of approved) terminal.out(text)
  for (const experiment of held)
    terminal.out(`${experiment.id} is held: read its change, then ${formatApproveCommand(experiment)}`)
}

interface GivenApproval {
  view: { experiment: string; digest: string; approved: string[]; left: string[] }
  text: string
}

/** Null: a dry run has nothing to report. */
async function recordApproval(
  call: Call,
  { campaignContext, dryRun }: CommandContext,
  target: ApprovalTarget,
): Promise<GivenApproval | null> {
  const { experiment } = target
  const request = getApprovalRequest(target)
  requireSameSet(call, target.set, experiment, request)
  const packages = selectPackages(target, request)
  const { digest } = request
  const saidAt = call.comment === undefined ? {} : { approved_at: call.comment.at }
  const about = { experiment: experiment.id, digest, packages: [...packages] }
  if (packages.length > 0) await recordEvents(campaignContext, [{ kind: 'approved', ...about, ...saidAt }])
  if (dryRun !== null) return null
  const after = findNamedExperiment((await requireCampaign(campaignContext)).loaded.campaign, experiment.id)
  requireSameSet(call, digest, after, getApprovalRequest({ ...target, experiment: after }))
  const left = listAwaitedPackages(after)
  const { actor } = campaignContext.by
  return {
    view: { experiment: experiment.id, digest, approved: packages, left },
    text: describeApproval(target, { packages, left, request, actor }),
  }
}

/** Also returns a request that is fully approved, so that a repeated approval reports this instead of failing. */
function getApprovalRequest({
  campaign,
  experiment,
}: Pick<ApprovalTarget, 'campaign' | 'experiment'>): ApprovalRequest {
  if (experiment.status !== 'ended' && experiment.approval !== null) return experiment.approval
  throw new UserError(
    `${experiment.id} is not waiting for approval. ${renderStateSentence(getExperimentState(campaign, experiment))}`,
    { fix: 'winnow approve lists pending approvals' },
  )
}

/** Requires a minimum number of digits: an attacker could push a set whose digest starts with the same few. */
function requireSameSet(
  { comment }: Call,
  given: string | undefined,
  { id }: Experiment,
  request: ApprovalRequest,
): void {
  if (given === undefined) return
  if (!request.digest.startsWith(given)) {
    const now = `the digest is now ${getShortDigest(request)}`
    throw new UserError(`${id} changed since digest ${given}: ${now}`, {
      fix: 'review it again: winnow approve lists what it waits for',
    })
  }
  if (given.length >= SHORT_DIGEST_LENGTH) return
  throw new UserError(`the digest ${given} is too short: give at least ${SHORT_DIGEST_LENGTH} digits`, {
    fix: `review it again, then ${comment ? formatApproveComment(request) : formatApproveCommand({ id, approval: request })}`,
  })
}

function formatApproveComment(request: ApprovalRequest): string {
  return `/winnow approve ${getShortDigest(request)}`
}

function selectPackages(
  { experiment, packages }: ApprovalTarget,
  { packages: all, additions }: ApprovalRequest,
): string[] {
  const awaited = listAwaitedPackages(experiment)
  if (packages.length === 0) return awaited
  const unknown = packages.find(name => !all.includes(name))
  if (unknown === undefined) return awaited.filter(name => packages.includes(name))
  const allowed = additions.some(({ name }) => name === unknown)
  throw new UserError(
    allowed ? `${unknown} is approved by the spec` : `${experiment.id} does not add ${unknown}`,
    { fix: `it waits for ${awaited.join(', ')}` },
  )
}

function describeApproval(
  { campaign, experiment }: ApprovalTarget,
  outcome: { packages: readonly string[]; left: readonly string[]; request: ApprovalRequest; actor: string },
): string {
  const { packages, left, request, actor } = outcome
  const { id } = experiment
  const none = packages.length === 0
  if (none && left.length === 0) return `${id} was approved already. ${describeWhenMeasured(campaign)}`
  const what = none
    ? 'nothing new was approved.'
    : `${describeRequest(packages, request)} approved by ${actor}.`
  const next =
    left.length === 0
      ? describeWhenMeasured(campaign)
      : `It still waits for ${describeRequest(left, request)}.`
  return `${id}: ${what} ${next}`
}

function describeWhenMeasured(campaign: Campaign): string {
  const { status } = campaign
  switch (status) {
    case 'stopped':
      if (!canHaveExtraRound(campaign.stop_code))
        return `The campaign has stopped; ${describeResumeHint(campaign) ?? 'it is measured after winnow resume'}.`
      return `The campaign has stopped; ${describeNextRun(campaign)} gives it one more round.`
    case 'paused':
      return 'The campaign is paused; it is measured after winnow resume.'
    case 'running':
    case 'none':
      return `${toSentenceCase(describeNextRun(campaign))} measures it.`
    default:
      return status satisfies never
  }
}
