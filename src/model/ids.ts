import { z } from 'zod'

export const oidSchema = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
export const digestSchema = z.string().regex(/^[0-9a-f]{64}$/)
export const experimentIdSchema = z.string().regex(/^exp-\d{3,}$/)
/** Evidence is bound to trees; refs move to commits. */
export const pointSchema = z.strictObject({ commit: oidSchema, tree: oidSchema })

export type Oid = string
export type ExperimentId = string
export type OrderId = string
export type EventId = string
export type Point = z.infer<typeof pointSchema>

export function formatExperimentId(number: number): ExperimentId {
  return `exp-${String(number).padStart(3, '0')}`
}

export function parseExperimentNumber(id: ExperimentId): number {
  return Number(id.slice('exp-'.length))
}

export type CampaignRefs = ReturnType<typeof buildCampaignRefs>

/** The branches that winnow owns, by their role. */
export function buildCampaignRefs(prefix: string, spec: string) {
  return {
    optimize: `refs/heads/${prefix}/${spec}`,
    campaign: `refs/heads/${prefix}-campaign/${spec}`,
    state: `refs/heads/${prefix}-state/${spec}`,
    closed: `refs/heads/${prefix}-closed/${spec}`,
    experiments: `refs/heads/${prefix}-exp/${spec}/`,
    archive: `refs/heads/${prefix}-archive/${spec}/`,
  }
}

export function toShortRef(ref: string): string {
  return ref.replace(/^refs\/heads\//, '')
}

/** Where a campaign runs: on one machine, where it has no pull requests, or on GitHub. */
export const hostSchema = z.enum(['local', 'github'])
export type Host = z.infer<typeof hostSchema>

const ACTIONS_PREFIX = 'actions:'

export function formatActionsRun(id: string | number): string {
  return `${ACTIONS_PREFIX}${id}`
}

export function isActionsRun({ run_id }: { run_id: string }): boolean {
  return run_id.startsWith(ACTIONS_PREFIX)
}

/** For people: a run of GitHub Actions, or a process of one machine (`local:<boot>:<pid>:<start>`). */
export function formatRunName(run_id: string): string {
  const [kind, first = ''] = run_id.split(':')
  if (kind === 'local') return `local process ${run_id.split(':')[2] ?? ''}`
  const [run, attempt = '1'] = first.split('/')
  return kind === 'actions' ? `GitHub run ${run}${attempt === '1' ? '' : `, attempt ${attempt}`}` : run_id
}

export function isSamePoint(a: Point, b: Point): boolean {
  return a.commit === b.commit && a.tree === b.tree
}
