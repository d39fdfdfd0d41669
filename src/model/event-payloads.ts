import { z } from 'zod'
import { approvalEvent } from './approval.ts'
import { idea } from './idea.ts'
import { JUDGING_ENDS } from './judging-end.ts'
import { digest, experimentId, oid, point } from './ids.ts'
import { partialReport } from './interruption.ts'
import { orderTerms } from './order.ts'
import { outcome, verdictWord } from './outcome.ts'
import { report, side } from './report.ts'
import { scoreRecord } from './score-record.ts'
import { snapshot } from './snapshot.ts'
import { SYNC_OBSTACLES } from './sync-awaited.ts'
import { host } from './host.ts'

const text = z.string()
const natural = z.number().int().nonnegative()
const nullableOid = oid.nullable()
const nullableId = experimentId.nullable()
const scale = z.enum(['log', 'linear'])

/** What the ledger holds (design section 6): every event is one of these, written once, never changed. */
export const payloads = {
  'campaign-started': {
    spec: text,
    /** Of the file in the repository, so that every tick finds it again on the default branch. */
    spec_path: text,
    spec_sha256: digest,
    spec_yaml: text,
    rule_version: text,
    default_branch: text,
    object_format: z.enum(['sha1', 'sha256']),
    start: point,
    harness: digest,
    first_number: z.number().int().positive(),
    winnow: text,
    /** Where its pull requests are kept; ledgers of earlier releases do not say. */
    host: host.optional(),
    /** Only on GitHub: minutes of runners are somebody's money there. */
    private_repository: z.boolean().optional(),
  },
  'campaign-amended': {
    spec_sha256: digest,
    spec_yaml: text,
    harness: digest,
    source: z.enum(['default-branch', 'person']),
    reason: text,
    /** The repository may have been opened or closed to the public since the campaign began. */
    private_repository: z.boolean().optional(),
    /** The full name that the default branch has from here on: it was given another one. */
    default_branch: text.optional(),
  },
  calibrated: {
    order: digest,
    deterministic: z.boolean(),
    scale,
    reason: text,
    /** What pairs of the base with itself have shown; null where none were needed, or before they were run. */
    noise: z
      .strictObject({
        pair_sd: z.number().nonnegative(),
        /** Upper 90 % limit of pair_sd. */
        pair_sd_upper90: z.number().nonnegative().nullable(),
        between_job_sd: z.number().nonnegative().nullable(),
        pairs: natural,
        jobs: natural,
        execution_seconds: z.number().nonnegative(),
        /** Everything but the executions that are counted: set-up, gates, warm-ups. */
        overhead_seconds: z.number().nonnegative(),
      })
      .nullable(),
  },
  'baseline-measured': { order: digest, side, tree: oid, machine: digest, harness: digest, snapshot },
  'hypothesis-added': { ...idea, source: text },
  'hypothesis-updated': {
    hypothesis: digest,
    status: z.enum(['open', 'tried', 'dropped']),
    /** The experiment that carried it, and what came of that; null where a person says so. */
    experiment: nullableId,
    outcome: outcome.nullable(),
    learnings: text.nullable(),
  },
  /** A job of its own asks this proposer for one idea on this commit; until then nobody asks in its place. */
  'idea-asked': {
    /** Of this asking, for good: its answer and its idea have it as well. */
    key: text,
    who: text,
    base: point,
    until: z.iso.datetime(),
    /** The idea of the backlog that it is handed. */
    carries: digest.optional(),
    /** Where it is told to look, where it is handed none and others are asked as well. */
    angle: text.optional(),
  },
  /** What it answered, as a change of that commit, until an experiment is opened with it. */
  'idea-brought': { key: text, ...idea, learnings: text.nullable(), patch: text },
  'asking-lost': { key: text, reason: text },
  /** This answer has the same files as an experiment that its brief could not name: the two are one answer. */
  'answer-repeated': { key: text, experiment: experimentId },
  'experiment-opened': {
    experiment: experimentId,
    /** pick: one kept change alone on the default branch, which never lands on the optimize branch. */
    purpose: z.enum(['idea', 'revert', 'simplify', 'pick']),
    ...idea,
    /** Where it came from; `key` names it for good, so that one idea is opened once. */
    source: z.strictObject({ use: text, key: text }),
    branch: text.nullable(),
    /** False for a person's own branch: winnow does not write there. */
    owned: z.boolean(),
    pull: natural.nullable(),
    head: nullableOid,
    base: point,
    learnings: text.nullable(),
    /** The idea of the backlog that it carries out, where it carries out one. */
    carries: digest.optional(),
    /** Only of a program's answer: the tree of its head, to know the same answer again. */
    answer_tree: oid.optional(),
    /** The kept experiment that a pick takes alone. */
    picks: experimentId.optional(),
  },
  'experiment-refused': {
    experiment: experimentId,
    head: nullableOid,
    code: text,
    message: text,
    /** The file it is about, where it is about one. */
    path: text.optional(),
    /** And the line in it, as the refused head has it. */
    line: z.number().int().positive().optional(),
  },
  /** Not ended: it is offered to a later round again, with the pairs that still count. */
  requeued: { experiment: experimentId, why: z.enum(['stopped', 'carried']), reason: text },
  'head-moved': { experiment: experimentId, from: nullableOid, to: oid },
  'order-issued': orderTerms.shape,
  'order-dispatched': { order: digest, run_id: text },
  /** `partial`: what its run had measured until then; absent where nothing of that is known. */
  'order-lost': { order: digest, started: z.boolean(), reason: text, partial: partialReport.optional() },
  measured: { order: digest, run_id: text, report },
  'report-rejected': { order: digest, run_id: text, reason: text },
  /** Its run printed what models are to score: the verified artifact of that run has this digest. */
  'order-printed': { order: digest, run_id: text, digest },
  /** A job of its own has models score what this order's run printed; until then nobody else does. */
  'judging-asked': {
    /** Of this asking, for good: what comes of it has it as well. */
    key: text,
    order: digest,
    until: z.iso.datetime(),
    /** Set aside of metric.judge.max_total_cost_usd: what a job that is never heard of again has cost. */
    may_cost_usd: z.number().positive().nullable(),
  },
  /** What came of it; with what came before, until every item has been asked for. */
  judged: {
    key: text,
    order: digest,
    model: text,
    records: z.array(scoreRecord),
    requests: natural,
    tokens: natural,
    usd: z.number().nonnegative(),
    /** Of its job. */
    minutes: z.number().nonnegative().optional(),
    ended: z.strictObject({ is: z.enum(JUDGING_ENDS), reason: text }).nullable(),
  },
  'judging-lost': { key: text, order: digest, reason: text },
  decided: {
    experiment: experimentId,
    order: digest.nullable(),
    outcome,
    verdict: verdictWord,
    rule_version: text,
    reason: text,
    failure_class: z.enum(['build', 'eval', 'hypothesis']).nullable(),
    primary_delta: z.number().nullable(),
    rank_score: z.number(),
    improved: z.array(text),
    violated: z.array(text),
    warnings: z.array(text),
    /** Inconclusive for now: it stays open and may be resumed with more jobs. */
    parked: z.boolean(),
    /** Parked because measuring ended early; for_now: it gets a second look once nothing else is queued. */
    given_up: z.enum(['for_now', 'for_good']).nullable(),
  },
  merged: {
    experiment: experimentId,
    commit: oid,
    tree: oid,
    base: point,
    head: oid,
    results: nullableOid,
    pull: natural.nullable(),
    decided: z.strictObject({ seq: natural, sha256: digest }),
    /** Who made the commit, where winnow did not: the forge when winnow asked, or a person by themselves. */
    via: z.enum(['api', 'person']).optional(),
  },
  closed: {
    experiment: experimentId,
    outcome,
    reason: text,
    head: nullableOid,
    results: nullableOid,
    /** What became of a pick that was offered: only of picks, and only where it was no verdict that closed it. */
    fate: z.enum(['merged', 'declined', 'left', 'replaced']).optional(),
  },
  'approval-requested': { experiment: experimentId, ...approvalEvent },
  /** Of the set with this digest and no other, whoever wrote it. */
  approved: {
    experiment: experimentId,
    digest,
    packages: z.array(text),
    /** When it was said, where it was heard later. */
    said_at: z.iso.datetime().optional(),
    /** By a review, which may be dismissed. */
    review: z.literal(true).optional(),
  },
  /** What this person approved of that set is approved no more. */
  'approval-withdrawn': { experiment: experimentId, digest, login: text, packages: z.array(text) },
  /** Somebody without the right to write brought this head: nothing of it runs until somebody with it allows that. */
  'measure-asked': { experiment: experimentId, head: oid, author: text },
  /** Of this head and no other. */
  'measure-allowed': { experiment: experimentId, head: oid, login: text },
  /** This head waits until a person has the default branch merged in: nothing of it is measured before. null: no more. */
  'sync-awaited': { experiment: experimentId, head: oid, obstacle: z.enum(SYNC_OBSTACLES).nullable() },
  /** Of this pull request up to this one: nothing there is to be heeded any more. Ours are found again by their names. */
  'comments-read': { pull: natural, comment: text, own: z.array(text) },
  'incumbent-moved': { from: point, to: point, why: z.enum(['merged', 'synced', 'foreign', 'reverted']) },
  synced: {
    /** null where nothing that measures can read what the default branch changed. */
    order: digest.nullable(),
    from: point,
    to: point,
    default_tip: oid,
    /** The tree of the default branch alone, without the campaign's kept changes. */
    default_tree: oid,
    /** Kept changes that a person had merged into the default branch by then. */
    holds: z.array(experimentId),
    harness: digest,
  },
  'foreign-tip': {
    from: point,
    to: point,
    state: z.enum(['found', 'adopted', 'moved-back', 'blocked']),
    order: digest.nullable(),
    reason: text,
  },
  'round-closed': { round: natural, members: z.array(experimentId), winner: nullableId },
  reverted: {
    experiment: experimentId,
    by_experiment: nullableId,
    from: point,
    to: point,
    measured_in: digest,
  },
  /** An effect measured without a stopping rule: of one landing, of the whole campaign, or of watching a landing. */
  'effect-measured': {
    what: z.enum(['landing', 'progression', 'watch']),
    experiment: nullableId,
    order: digest,
    from: point,
    to: point,
    /** The metric it is an effect on. */
    metric: text,
    scale,
    effect: z.number(),
    interval: z.tuple([z.number(), z.number()]).nullable(),
    pairs: natural,
    /** Of a landing that is watched. */
    state: z.enum(['open', 'clear', 'flagged']).nullable(),
    reason: text,
  },
  /** `avoid` is about no experiment: its reason is for whoever proposes. */
  steered: {
    action: z.enum(['retry', 'revert', 'withdraw', 'avoid', 'pick']),
    experiment: nullableId,
    reason: text,
  },
  note: { text, experiment: nullableId },
  alert: { code: text, message: text, about: text.nullable() },
  spent: {
    what: text,
    who: text.nullable(),
    ok: z.boolean(),
    minutes: z.number().nonnegative(),
    requests: natural,
    tokens: natural,
    usd: z.number().nonnegative(),
  },
  'knob-changed': { knob: text, from: text, to: text },
  'campaign-paused': { reason: text, source: z.enum(['person', 'engine']) },
  /** `encore`: one more round for what was approved after the stop, and for nothing else. */
  'campaign-resumed': { reason: text, encore: z.literal(true).optional() },
  'campaign-stopped': { code: text, reason: text },
} as const
