export interface CampaignStatus {
  status: 'none' | 'running' | 'paused' | 'stopped'
  status_source: 'person' | 'engine'
  status_reason: string | null
}

// Texts

const WITH_COLON = (word: string, reason: string): string => `${word}: ${reason}`
const IN_BRACKETS = (word: string, reason: string): string => `${word} (${reason})`

/** Returns "paused: the disk is full", or "stopped by ada" when the reason already starts with the word. */
export function withReason(word: string, reason: string, join = WITH_COLON): string {
  if (reason === '') return word
  return reason === word || reason.startsWith(`${word} `) ? reason : join(word, reason)
}

type Status = Pick<CampaignStatus, 'status' | 'status_reason'>

/** Returns the state and the first line of its reason. The later lines are the raw answer of a server. */
export function describeStatus({ status, status_reason: reason }: Status, join = WITH_COLON): string {
  if (status === 'running' || reason === null) return status
  return withReason(status, reason.split('\n', 1)[0] ?? '', join)
}

/** Returns "the campaign stopped (8 hours)" or "the campaign was stopped by ada". */
export function describeStop({ status_reason: reason }: Pick<CampaignStatus, 'status_reason'>): string {
  const text = withReason('stopped', reason ?? '', IN_BRACKETS)
  return `the campaign ${text.startsWith('stopped by ') ? `was ${text}` : text}`
}

/** Returns "the campaign is paused (release week)" or "the campaign was stopped by ada". */
export function describeStandstill({ status, status_reason: reason }: Status): string {
  const first = reason?.split('\n', 1)[0]?.replace(/\.$/, '') ?? ''
  return `the campaign ${status === 'stopped' ? 'was' : 'is'} ${withReason(status, first, IN_BRACKETS)}`
}

// Stops

/** Limits that a person can raise in the spec. Other stops are final, or concern ideas. */
const MOVABLE_LIMITS: ReadonlySet<string> = new Set([
  'target_reached',
  'max_iterations',
  'max_hours',
  'plateau',
  'max_runner_minutes',
  'max_total_cost_usd',
  'max_judge_cost_usd',
  'max_failures',
  'epochs',
])

export function isMovable(code: string): boolean {
  return MOVABLE_LIMITS.has(code)
}
