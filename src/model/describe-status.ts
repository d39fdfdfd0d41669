import type { Campaign } from './campaign.ts'

const WITH_COLON = (word: string, reason: string): string => `${word}: ${reason}`
const IN_BRACKETS = (word: string, reason: string): string => `${word} (${reason})`

/** Returns "paused: the disk is full", or "stopped by ada" when the reason already starts with the word. */
export function withReason(word: string, reason: string, join = WITH_COLON): string {
  if (reason === '') return word
  return reason === word || reason.startsWith(`${word} `) ? reason : join(word, reason)
}

type Status = Pick<Campaign, 'status' | 'status_reason'>

/** Returns the state and the first line of its reason. The later lines are the raw answer of a server. */
export function describeStatus({ status, status_reason: reason }: Status, join = WITH_COLON): string {
  if (status === 'running' || reason === null) return status
  return withReason(status, reason.split('\n', 1)[0] ?? '', join)
}

/** Returns "the campaign stopped (8 hours)" or "the campaign was stopped by ada". */
export function describeStop({ status_reason: reason }: Pick<Campaign, 'status_reason'>): string {
  const text = withReason('stopped', reason ?? '', IN_BRACKETS)
  return `the campaign ${text.startsWith('stopped by ') ? `was ${text}` : text}`
}

/** Returns "the campaign is paused (release week)" or "the campaign was stopped by ada". */
export function describeStandstill({ status, status_reason: reason }: Status): string {
  const first = reason?.split('\n', 1)[0]?.replace(/\.$/, '') ?? ''
  return `the campaign ${status === 'stopped' ? 'was' : 'is'} ${withReason(status, first, IN_BRACKETS)}`
}
