import { z } from 'zod'
import { approvalFields, holdFindingsSchema } from './approval.ts'
import { digestSchema, experimentIdSchema, hostSchema, oidSchema, pointSchema } from './ids.ts'
import { orderTermsSchema, scaleSchema } from './order.ts'
import { partialReportSchema } from './pairs.ts'
import { probeLabelSchema, probeResultSchema } from './probe.ts'
import { MOST_FEEDBACK, reportSchema, sideSchema, snapshotSchema } from './report.ts'
import { outcomeSchema, verdictWordSchema } from './verdict.ts'

const ideaText = z.string()

export const prioritySchema = z.enum(['high', 'medium', 'low'])
export type Priority = z.infer<typeof prioritySchema>

export const ideaFields = {
  hypothesis: ideaText,
  category: ideaText,
  priority: prioritySchema,
  required_deps: z.array(ideaText),
  family: ideaText.nullable(),
}

/** The raw answer of one judge about one side of one item. It is the material of verdicts, never a verdict. */
export const scoreRecordSchema = z.strictObject({
  judge: z.number().int().nonnegative(),
  item: z.string(),
  /** Singletons have a rubric of their own, and may have the id of an item. */
  side: z.union([
    z.enum(['base', 'candidate', 'label', 'base-singleton', 'candidate-singleton']),
    probeLabelSchema,
  ]),
  /** 1: with its batch. 2: on its own, because the batch contained no answer for it. */
  time: z.union([z.literal(1), z.literal(2)]),
  /** Null: no readable scores. */
  scores: z.record(z.string(), z.number().nullable()).nullable(),
  /** What keeps the item from the best score, in the judge's words. Only where judges are asked for it. */
  feedback: z.string().min(1).max(MOST_FEEDBACK).optional(),
})
export type ScoreRecord = z.infer<typeof scoreRecordSchema>

/** Why a judging job stopped early: no time or money was left, or the model refused or was unreachable. */
const JUDGING_ENDS = ['late', 'set-aside', 'refused', 'unreachable'] as const
export type JudgingEnd = (typeof JUDGING_ENDS)[number]

export function isRetryableEnd(end: JudgingEnd): boolean {
  return end === 'late' || end === 'set-aside'
}

/** Alert codes of the obstacles that stop winnow from merging the default branch until a person acts. */
export const SYNC_OBSTACLES = ['sync-workflows', 'sync-conflict', 'sync-bad-spec', 'sync-failed'] as const
export type SyncObstacle = (typeof SYNC_OBSTACLES)[number]

const restoredArtifactSchema = z.strictObject({
  artifact: z.string(),
  version: z.number().int().nonnegative(),
  path: z.string(),
  blob: oidSchema.nullable(),
})

const payloadText = z.string()
const payloadNumber = z.number().int().nonnegative()
const nullableOid = oidSchema.nullable()
const nullableId = experimentIdSchema.nullable()

/** All kinds of events in the ledger. Each event is written once and never changes. */
export const eventPayloads = {
  'campaign-started': {
    spec: payloadText,
    spec_path: payloadText,
    spec_sha256: digestSchema,
    spec_yaml: payloadText,
    rule_version: payloadText,
    default_branch: payloadText,
    object_format: z.enum(['sha1', 'sha256']),
    start: pointSchema,
    harness: digestSchema,
    first_number: z.number().int().positive(),
    winnow: payloadText,
    /** Location of its pull requests; absent in ledgers of earlier releases. */
    host: hostSchema.optional(),
    /** Set only on GitHub, where runner minutes of private repositories cost money. */
    private_repository: z.boolean().optional(),
  },
  'campaign-amended': {
    spec_sha256: digestSchema,
    spec_yaml: payloadText,
    harness: digestSchema,
    source: z.enum(['default-branch', 'person']),
    reason: payloadText,
    private_repository: z.boolean().optional(),
    /** The new full name of the default branch after a rename. */
    default_branch: payloadText.optional(),
  },
  calibrated: {
    order: digestSchema,
    deterministic: z.boolean(),
    scale: scaleSchema,
    reason: payloadText,
    /** The noise between pairs of the base with itself; null when no pairs were needed, or before they ran. */
    noise: z
      .strictObject({
        pair_sd: z.number().nonnegative(),
        pair_sd_upper90: z.number().nonnegative().nullable(),
        between_job_sd: z.number().nonnegative().nullable(),
        pairs: payloadNumber,
        jobs: payloadNumber,
        execution_seconds: z.number().nonnegative(),
        /** Seconds outside the counted executions: set-up, gates and warm-ups. */
        overhead_seconds: z.number().nonnegative(),
      })
      .nullable(),
    /** The share by which a counted metric may differ between runs of the same code, if it differs. */
    tolerance: z.number().positive().optional(),
    /** A metric that differs less between the same pairs, and the smallest gain that either shows (null: none). */
    quieter: z
      .strictObject({
        metric: z.string(),
        pair_sd: z.number().nonnegative(),
        visible_gain: z.number(),
        primary_visible_gain: z.number().nullable(),
      })
      .optional(),
  },
  'baseline-measured': {
    order: digestSchema,
    side: sideSchema,
    tree: oidSchema,
    machine: digestSchema,
    harness: digestSchema,
    snapshot: snapshotSchema,
  },
  /** What the probes of this harness showed. They are not measured again before harness or scope change. */
  probed: {
    harness: digestSchema,
    /** Null where no order of probes could be issued. */
    order: digestSchema.nullable(),
    results: z.array(probeResultSchema),
    /** Commands that pass and measure the same without the code that may change. Null: they use it. */
    ignored_by: z.array(payloadText).nullable(),
    /** How many times better the harness found the base when its files were empty; null: it printed no number. */
    vanish_gain: z.number().positive().nullable(),
    /** Why nothing could be probed. */
    not_probed: payloadText.nullable(),
  },
  'hypothesis-added': {
    ...ideaFields,
    source: payloadText,
    /** A model or an agent wrote it. No proposer gets it before a person approves it. */
    suggested: z.literal(true).optional(),
  },
  'hypothesis-updated': {
    hypothesis: digestSchema,
    status: z.enum(['open', 'tried', 'dropped']),
    /** The experiment that carries it out, and its outcome; null when a person reports it. */
    experiment: nullableId,
    outcome: outcomeSchema.nullable(),
    learnings: payloadText.nullable(),
  },
  /** A separate job asks this proposer for one idea on this commit. No other job may ask in its place. */
  'proposal-requested': {
    /** Identifies the request. Its answer and its experiment carry the same key. */
    key: payloadText,
    who: payloadText,
    base: pointSchema,
    until: z.iso.datetime(),
    /** The backlog idea that the proposer is to carry out. */
    carries: digestSchema.optional(),
    /** The direction to explore, given when several proposers are asked without a backlog idea. */
    angle: payloadText.optional(),
    /** Reserved from stopping.max_total_cost_usd: the cost that counts when the job gives no answer. */
    may_cost_usd: z.number().positive().optional(),
  },
  /** The answer as a patch against that commit. It is pending until an experiment is opened with it. */
  'proposal-answered': {
    key: payloadText,
    ...ideaFields,
    learnings: payloadText.nullable(),
    patch: payloadText,
  },
  'proposal-lost': { key: payloadText, reason: payloadText },
  /** This answer has the same files as an experiment that its brief could not list, so both count as one answer. */
  'answer-repeated': { key: payloadText, experiment: experimentIdSchema },
  'experiment-opened': {
    experiment: experimentIdSchema,
    /** pick: a single kept change on top of the default branch, which never lands on the optimize branch. */
    purpose: z.enum(['idea', 'revert', 'simplify', 'pick']),
    ...ideaFields,
    /** The origin. `key` identifies it permanently, so that an idea is opened only once. */
    source: z.strictObject({ use: payloadText, key: payloadText }),
    branch: payloadText.nullable(),
    /** False for a person's own branch: winnow does not write there. */
    owned: z.boolean(),
    pull: payloadNumber.nullable(),
    head: nullableOid,
    base: pointSchema,
    learnings: payloadText.nullable(),
    carries: digestSchema.optional(),
    /** Only for an answer of a program: the tree of its head, to recognize the same answer again. */
    answer_tree: oidSchema.optional(),
    /** The kept experiment that a pick offers on its own. */
    picks: experimentIdSchema.optional(),
  },
  'experiment-refused': {
    experiment: experimentIdSchema,
    head: nullableOid,
    code: payloadText,
    message: payloadText,
    path: payloadText.optional(),
    /** The line in that file, in the refused head. */
    line: z.number().int().positive().optional(),
  },
  /** The experiment did not end: a later round takes it up again, with the pairs that still count. */
  requeued: {
    experiment: experimentIdSchema,
    why: z.enum(['stopped', 'not-taken', 'held']),
    reason: payloadText,
    findings: holdFindingsSchema.optional(),
  },
  'head-moved': { experiment: experimentIdSchema, from: nullableOid, to: oidSchema },
  'order-issued': orderTermsSchema.shape,
  'order-dispatched': { order: digestSchema, run_id: payloadText },
  /** `partial`: the measurements of its run until the loss; absent when unknown. */
  'order-lost': {
    order: digestSchema,
    started: z.boolean(),
    reason: payloadText,
    partial: partialReportSchema.optional(),
  },
  measured: { order: digestSchema, run_id: payloadText, report: reportSchema },
  'report-rejected': { order: digestSchema, run_id: payloadText, reason: payloadText },
  /** The order's run printed items for models to score. The verified artifact of that run has this digest. */
  'order-printed': { order: digestSchema, run_id: payloadText, digest: digestSchema },
  /** A separate job has models score the printed items of this order. No other job may score them. */
  'judging-requested': {
    key: payloadText,
    order: digestSchema,
    until: z.iso.datetime(),
    /** Reserved from metric.judge.max_total_cost_usd: the cost that counts when the job gives no answer. */
    may_cost_usd: z.number().positive().nullable(),
  },
  /** The result of a request. Together with earlier results it grows until every item has been scored. */
  judged: {
    key: payloadText,
    order: digestSchema,
    model: payloadText,
    records: z.array(scoreRecordSchema),
    requests: payloadNumber,
    tokens: payloadNumber,
    usd: z.number().nonnegative(),
    minutes: z.number().nonnegative().optional(),
    ended: z.strictObject({ is: z.enum(JUDGING_ENDS), reason: payloadText }).nullable(),
  },
  'judging-lost': { key: payloadText, order: digestSchema, reason: payloadText },
  decided: {
    experiment: experimentIdSchema,
    order: digestSchema.nullable(),
    outcome: outcomeSchema,
    verdict: verdictWordSchema,
    rule_version: payloadText,
    reason: payloadText,
    failure_class: z.enum(['build', 'eval', 'hypothesis']).nullable(),
    primary_delta: z.number().nullable(),
    rank_score: z.number(),
    improved: z.array(payloadText),
    violated: z.array(payloadText),
    warnings: z.array(payloadText),
    /** Inconclusive for now: the experiment stays open and may be resumed with more jobs. */
    stays_open: z.boolean(),
    /** Not proven because measuring ended early; for_now: it is tried again after the queue is empty. */
    given_up: z.enum(['for_now', 'for_good']).nullable(),
  },
  merged: {
    experiment: experimentIdSchema,
    commit: oidSchema,
    tree: oidSchema,
    base: pointSchema,
    head: oidSchema,
    results: nullableOid,
    pull: payloadNumber.nullable(),
    decided: z.strictObject({ seq: payloadNumber, sha256: digestSchema }),
    /** The author of a commit that winnow did not make: GitHub at winnow's request, or a person. */
    via: z.enum(['api', 'person']).optional(),
  },
  closed: {
    experiment: experimentIdSchema,
    outcome: outcomeSchema,
    reason: payloadText,
    head: nullableOid,
    results: nullableOid,
    /** The end of an offered pick. Only picks have one, and only when no verdict closed them. */
    pick_end: z.enum(['merged', 'declined', 'left', 'replaced']).optional(),
  },
  'approval-requested': { experiment: experimentIdSchema, ...approvalFields },
  /** Covers only the set with this digest, independent of the experiment's author. */
  approved: {
    experiment: experimentIdSchema,
    digest: digestSchema,
    packages: z.array(payloadText),
    /** Time of the approval, when winnow saw it later. */
    approved_at: z.iso.datetime().optional(),
    /** Given by a review, which can be dismissed. */
    review: z.literal(true).optional(),
  },
  'approval-withdrawn': {
    experiment: experimentIdSchema,
    digest: digestSchema,
    login: payloadText,
    packages: z.array(payloadText),
  },
  /** An author without write permission pushed this head. It runs once a person with that permission allows it. */
  'permission-requested': { experiment: experimentIdSchema, head: oidSchema, author: payloadText },
  'permission-granted': { experiment: experimentIdSchema, head: oidSchema, login: payloadText },
  /** This head is not measured until a person merges the default branch. null: it no longer waits. */
  'sync-awaited': {
    experiment: experimentIdSchema,
    head: oidSchema,
    obstacle: z.enum(SYNC_OBSTACLES).nullable(),
  },
  /** The comments of this pull request are read up to this one. `own` names winnow's comments among them. */
  'comments-read': { pull: payloadNumber, comment: payloadText, own: z.array(payloadText) },
  'incumbent-moved': {
    from: pointSchema,
    to: pointSchema,
    why: z.enum(['merged', 'synced', 'foreign', 'reverted']),
  },
  synced: {
    /** null when no measured code can read the changes of the default branch. */
    order: digestSchema.nullable(),
    from: pointSchema,
    to: pointSchema,
    default_tip: oidSchema,
    /** The tree of the default branch alone, without the campaign's kept changes. */
    default_tree: oidSchema,
    /** Kept changes that a person had merged into the default branch before. */
    holds: z.array(experimentIdSchema),
    harness: digestSchema,
  },
  'foreign-tip': {
    from: pointSchema,
    to: pointSchema,
    state: z.enum(['found', 'adopted', 'moved-back', 'blocked']),
    order: digestSchema.nullable(),
    reason: payloadText,
  },
  'round-closed': { round: payloadNumber, members: z.array(experimentIdSchema), winner: nullableId },
  reverted: {
    experiment: experimentIdSchema,
    by_experiment: nullableId,
    from: pointSchema,
    to: pointSchema,
    measured_in: digestSchema,
  },
  /** An effect measured without a stopping rule: of one landing, of the whole campaign, or of a watched landing. */
  'effect-measured': {
    what: z.enum(['landing', 'progression', 'watch']),
    experiment: nullableId,
    order: digestSchema,
    from: pointSchema,
    to: pointSchema,
    metric: payloadText,
    scale: scaleSchema,
    effect: z.number(),
    interval: z.tuple([z.number(), z.number()]).nullable(),
    pairs: payloadNumber,
    state: z.enum(['open', 'clear', 'flagged']).nullable(),
    reason: payloadText,
  },
  /** `avoid` names no experiment: its reason is a hint for proposers. `restore` names none either. */
  steered: {
    action: z.enum(['retry', 'revert', 'withdraw', 'avoid', 'pick', 'restore']),
    experiment: nullableId,
    reason: payloadText,
    /** The content that this artifact is to have again; null: no file. */
    restores: restoredArtifactSchema.optional(),
  },
  note: { text: payloadText, experiment: nullableId },
  alert: { code: payloadText, message: payloadText, about: payloadText.nullable() },
  spent: {
    what: payloadText,
    who: payloadText.nullable(),
    ok: z.boolean(),
    minutes: z.number().nonnegative(),
    requests: payloadNumber,
    tokens: payloadNumber,
    usd: z.number().nonnegative(),
  },
  /** A person allows these to spend money that nothing caps. */
  'uncapped-allowed': { spenders: z.array(payloadText).min(1) },
  'knob-changed': { knob: payloadText, from: payloadText, to: payloadText },
  'campaign-paused': { reason: payloadText, source: z.enum(['person', 'engine']) },
  /** `extra_round`: an extra round for changes approved after the stop only. */
  'campaign-resumed': { reason: payloadText, extra_round: z.literal(true).optional() },
  'campaign-stopped': { code: payloadText, reason: payloadText },
} as const
