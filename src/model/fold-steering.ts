import type { Campaign } from './campaign.ts'
import type { LedgerEvent } from './event.ts'
import type { Handler } from './fold-handler.ts'
import { subjectOf } from './picked.ts'

const AVOIDED_KEPT = 20

function avoided({ avoid }: Campaign, { reason, by }: LedgerEvent<'steered'>): void {
  avoid.push({ text: reason, by: by.actor })
  if (avoid.length > AVOIDED_KEPT) avoid.shift()
}

const steered: Handler<'steered'> = (campaign, event) => {
  const { id, action, experiment, reason } = event
  if (action === 'avoid' || experiment === null) return avoided(campaign, event)
  const subject = subjectOf(campaign, experiment)
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

const commentsRead: Handler<'comments-read'> = (campaign, { pull, comment, own }) => {
  const before = campaign.comments_read[pull]
  if (before === undefined || Number(before.comment) < Number(comment))
    campaign.comments_read[pull] = { comment, own }
}

export const steeringHandlers = { steered, 'comments-read': commentsRead }
