import { z } from 'zod'
import { SYNC_OBSTACLES } from './alerts.ts'
import { approvalFields } from './approval.ts'
import { digestSchema, experimentIdSchema, hostSchema, oidSchema, pointSchema } from './ids.ts'
import { orderTermsSchema } from './order.ts'
import { partialReportSchema } from './pairs.ts'
import { reportSchema, sideSchema, snapshotSchema } from './report.ts'
import { outcomeSchema, verdictWordSchema } from './verdict.ts'

const ideaText = z.string()

const prioritySchema = z.enum(['high', 'medium', 'low'])
export type Priority = z.infer<typeof prioritySchema>

/** What is said of an idea, in every event that tells of one. */
export const ideaFields = {
  hypothesis: ideaText,
  category: ideaText,
  priority: prioritySchema,
  required_deps: z.array(ideaText),
  family: ideaText.nullable(),
}

/** What one judge said of one side of one item, as it came: the raw material of a verdict, and never one. */
export const scoreRecordSchema = z.strictObject({
  judge: z.number().int().nonnegative(),
  item: z.string(),
  side: z.enum(['base', 'candidate', 'label']),
  /** 1: in its batch; 2: alone, since its batch gave none. */
  time: z.union([z.literal(1), z.literal(2)]),
  /** Null: none that could be read. */
  scores: z.record(z.string(), z.number().nullable()).nullable(),
})
export type ScoreRecord = z.infer<typeof scoreRecordSchema>

/**
 * Why a job that asks models stopped before everything had been asked for: its time or its money was up, or no model
 * could be asked.
 */
const JUDGING_ENDS = ['late', 'set-aside', 'refused', 'unreachable'] as const
export type JudgingEnd = (typeof JUDGING_ENDS)[number]

/** Those that say nothing against asking on at once. */
export function isRetryableEnd(is: JudgingEnd): boolean {
  return is === 'late' || is === 'set-aside'
}

const payloadText = z.string()
const payloadNumber = z.number().int().nonnegative()
const nullableOid = oidSchema.nullable()
const nullableId = experimentIdSchema.nullable()
const payloadScale = z.enum(['log', 'linear'])

/** What the ledger holds (design section 6): every event is one of these, written once, never changed. */
export const eventPayloads = {
  'campaign-started': {
    spec: payloadText,
    /** Of the file in the repository, so that every tick finds it again on the default branch. */
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
    /** Where its pull requests are kept; ledgers of earlier releases do not say. */
    host: hostSchema.optional(),
    /** Only on GitHub: minutes of runners are somebody's money there. */
    private_repository: z.boolean().optional(),
  },
  'campaign-amended': {
    spec_sha256: digestSchema,
    spec_yaml: payloadText,
    harness: digestSchema,
    source: z.enum(['default-branch', 'person']),
    reason: payloadText,
    /** The repository may have been opened or closed to the public since the campaign began. */
    private_repository: z.boolean().optional(),
    /** The full name that the default branch has from here on: it was given another one. */
    default_branch: payloadText.optional(),
  },
  calibrated: {
    order: digestSchema,
    deterministic: z.boolean(),
    scale: payloadScale,
    reason: payloadText,
    /** What pairs of the base with itself have shown; null where none were needed, or before they were run. */
    noise: z
      .strictObject({
        pair_sd: z.number().nonnegative(),
        /** Upper 90 % limit of pair_sd. */
        pair_sd_upper90: z.number().nonnegative().nullable(),
        between_job_sd: z.number().nonnegative().nullable(),
        pairs: payloadNumber,
        jobs: payloadNumber,
        execution_seconds: z.number().nonnegative(),
        /** Everything but the executions that are counted: set-up, gates, warm-ups. */
        overhead_seconds: z.number().nonnegative(),
      })
      .nullable(),
  },
  'baseline-measured': {
    order: digestSchema,
    side: sideSchema,
    tree: oidSchema,
    machine: digestSchema,
    harness: digestSchema,
    snapshot: snapshotSchema,
  },
  'hypothesis-added': { ...ideaFields, source: payloadText },
  'hypothesis-updated': {
    hypothesis: digestSchema,
    status: z.enum(['open', 'tried', 'dropped']),
    /** The experiment that carried it, and what came of that; null where a person says so. */
    experiment: nullableId,
    outcome: outcomeSchema.nullable(),
    learnings: payloadText.nullable(),
  },
  /** A job of its own asks this proposer for one idea on this commit; until then nobody asks in its place. */
  'idea-asked': {
    /** Of this asking, for good: its answer and its idea have it as well. */
    key: payloadText,
    who: payloadText,
    base: pointSchema,
    until: z.iso.datetime(),
    /** The idea of the backlog that it is handed. */
    carries: digestSchema.optional(),
    /** Where it is told to look, where it is handed none and others are asked as well. */
    angle: payloadText.optional(),
  },
  /** What it answered, as a change of that commit, until an experiment is opened with it. */
  'idea-brought': { key: payloadText, ...ideaFields, learnings: payloadText.nullable(), patch: payloadText },
  'asking-lost': { key: payloadText, reason: payloadText },
  /** This answer has the same files as an experiment that its brief could not name: the two are one answer. */
  'answer-repeated': { key: payloadText, experiment: experimentIdSchema },
  'experiment-opened': {
    experiment: experimentIdSchema,
    /** pick: one kept change alone on the default branch, which never lands on the optimize branch. */
    purpose: z.enum(['idea', 'revert', 'simplify', 'pick']),
    ...ideaFields,
    /** Where it came from; `key` names it for good, so that one idea is opened once. */
    source: z.strictObject({ use: payloadText, key: payloadText }),
    branch: payloadText.nullable(),
    /** False for a person's own branch: winnow does not write there. */
    owned: z.boolean(),
    pull: payloadNumber.nullable(),
    head: nullableOid,
    base: pointSchema,
    learnings: payloadText.nullable(),
    /** The idea of the backlog that it carries out, where it carries out one. */
    carries: digestSchema.optional(),
    /** Only of a program's answer: the tree of its head, to know the same answer again. */
    answer_tree: oidSchema.optional(),
    /** The kept experiment that a pick takes alone. */
    picks: experimentIdSchema.optional(),
  },
  'experiment-refused': {
    experiment: experimentIdSchema,
    head: nullableOid,
    code: payloadText,
    message: payloadText,
    /** The file it is about, where it is about one. */
    path: payloadText.optional(),
    /** And the line in it, as the refused head has it. */
    line: z.number().int().positive().optional(),
  },
  /** Not ended: it is offered to a later round again, with the pairs that still count. */
  requeued: { experiment: experimentIdSchema, why: z.enum(['stopped', 'carried']), reason: payloadText },
  'head-moved': { experiment: experimentIdSchema, from: nullableOid, to: oidSchema },
  'order-issued': orderTermsSchema.shape,
  'order-dispatched': { order: digestSchema, run_id: payloadText },
  /** `partial`: what its run had measured until then; absent where nothing of that is known. */
  'order-lost': {
    order: digestSchema,
    started: z.boolean(),
    reason: payloadText,
    partial: partialReportSchema.optional(),
  },
  measured: { order: digestSchema, run_id: payloadText, report: reportSchema },
  'report-rejected': { order: digestSchema, run_id: payloadText, reason: payloadText },
  /** Its run printed what models are to score: the verified artifact of that run has this digest. */
  'order-printed': { order: digestSchema, run_id: payloadText, digest: digestSchema },
  /** A job of its own has models score what this order's run printed; until then nobody else does. */
  'judging-asked': {
    /** Of this asking, for good: what comes of it has it as well. */
    key: payloadText,
    order: digestSchema,
    until: z.iso.datetime(),
    /** Set aside of metric.judge.max_total_cost_usd: what a job that is never heard of again has cost. */
    may_cost_usd: z.number().positive().nullable(),
  },
  /** What came of it; with what came before, until every item has been asked for. */
  judged: {
    key: payloadText,
    order: digestSchema,
    model: payloadText,
    records: z.array(scoreRecordSchema),
    requests: payloadNumber,
    tokens: payloadNumber,
    usd: z.number().nonnegative(),
    /** Of its job. */
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
    /** Inconclusive for now: it stays open and may be resumed with more jobs. */
    parked: z.boolean(),
    /** Parked because measuring ended early; for_now: it gets a second look once nothing else is queued. */
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
    /** Who made the commit, where winnow did not: the forge when winnow asked, or a person by themselves. */
    via: z.enum(['api', 'person']).optional(),
  },
  closed: {
    experiment: experimentIdSchema,
    outcome: outcomeSchema,
    reason: payloadText,
    head: nullableOid,
    results: nullableOid,
    /** What became of a pick that was offered: only of picks, and only where it was no verdict that closed it. */
    fate: z.enum(['merged', 'declined', 'left', 'replaced']).optional(),
  },
  'approval-requested': { experiment: experimentIdSchema, ...approvalFields },
  /** Of the set with this digest and no other, whoever wrote it. */
  approved: {
    experiment: experimentIdSchema,
    digest: digestSchema,
    packages: z.array(payloadText),
    /** When it was said, where it was heard later. */
    said_at: z.iso.datetime().optional(),
    /** By a review, which may be dismissed. */
    review: z.literal(true).optional(),
  },
  /** What this person approved of that set is approved no more. */
  'approval-withdrawn': {
    experiment: experimentIdSchema,
    digest: digestSchema,
    login: payloadText,
    packages: z.array(payloadText),
  },
  /** Somebody without the right to write brought this head: nothing of it runs until somebody with it allows that. */
  'measure-asked': { experiment: experimentIdSchema, head: oidSchema, author: payloadText },
  /** Of this head and no other. */
  'measure-allowed': { experiment: experimentIdSchema, head: oidSchema, login: payloadText },
  /** This head waits until a person has the default branch merged in: nothing of it is measured before. null: no more. */
  'sync-awaited': {
    experiment: experimentIdSchema,
    head: oidSchema,
    obstacle: z.enum(SYNC_OBSTACLES).nullable(),
  },
  /** Of this pull request up to this one: nothing there is to be heeded any more. Ours are found again by their names. */
  'comments-read': { pull: payloadNumber, comment: payloadText, own: z.array(payloadText) },
  'incumbent-moved': {
    from: pointSchema,
    to: pointSchema,
    why: z.enum(['merged', 'synced', 'foreign', 'reverted']),
  },
  synced: {
    /** null where nothing that measures can read what the default branch changed. */
    order: digestSchema.nullable(),
    from: pointSchema,
    to: pointSchema,
    default_tip: oidSchema,
    /** The tree of the default branch alone, without the campaign's kept changes. */
    default_tree: oidSchema,
    /** Kept changes that a person had merged into the default branch by then. */
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
  /** An effect measured without a stopping rule: of one landing, of the whole campaign, or of watching a landing. */
  'effect-measured': {
    what: z.enum(['landing', 'progression', 'watch']),
    experiment: nullableId,
    order: digestSchema,
    from: pointSchema,
    to: pointSchema,
    /** The metric it is an effect on. */
    metric: payloadText,
    scale: payloadScale,
    effect: z.number(),
    interval: z.tuple([z.number(), z.number()]).nullable(),
    pairs: payloadNumber,
    /** Of a landing that is watched. */
    state: z.enum(['open', 'clear', 'flagged']).nullable(),
    reason: payloadText,
  },
  /** `avoid` is about no experiment: its reason is for whoever proposes. */
  steered: {
    action: z.enum(['retry', 'revert', 'withdraw', 'avoid', 'pick']),
    experiment: nullableId,
    reason: payloadText,
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
  'knob-changed': { knob: payloadText, from: payloadText, to: payloadText },
  'campaign-paused': { reason: payloadText, source: z.enum(['person', 'engine']) },
  /** `encore`: one more round for what was approved after the stop, and for nothing else. */
  'campaign-resumed': { reason: payloadText, encore: z.literal(true).optional() },
  'campaign-stopped': { code: payloadText, reason: payloadText },
} as const
