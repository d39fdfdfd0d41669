import type { Campaign } from './campaign.ts'
import type { LedgerEvent } from './event.ts'
import type { EventHandler } from './fold-handler.ts'
import { findSubject } from './picked.ts'

const MAX_AVOIDED = 20

function addAvoided({ avoid }: Campaign, { reason, by }: LedgerEvent<'steered'>): void {
  avoid.push({ text: reason, by: by.actor })
  if (avoid.length > MAX_AVOIDED) avoid.shift()
}

const applySteered: EventHandler<'steered'> = (campaign, event) => {
  const { id, action, experiment, reason } = event
  if (action === 'avoid' || experiment === null) return addAvoided(campaign, event)
  const subject = findSubject(campaign, experiment)
  if (action === 'retry') {
    if (subject?.status !== 'parked') return
    subject.status = 'queued'
    if (subject.given_up === null) subject.resumed += 1
    subject.give_up = subject.given_up === 'for_good' ? 'never' : 'late'
    subject.given_up = null
    subject.interrupted = 0
    return
  }
  if (action === 'withdraw' && subject?.status === 'ended') return
  campaign.steered.push({ event: id, action, experiment, reason })
}

const applyCommentsRead: EventHandler<'comments-read'> = (campaign, { pull, comment, own }) => {
  const before = campaign.comments_read[pull]
  if (before === undefined || Number(before.comment) < Number(comment))
    campaign.comments_read[pull] = { comment, own }
}

export const steeringHandlers = { steered: applySteered, 'comments-read': applyCommentsRead }
