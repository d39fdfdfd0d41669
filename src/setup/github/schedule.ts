import { UserError } from '../../errors.ts'
import { hashSha256 } from '../../model/canonical.ts'
import type { Spec } from '../../spec/schema.ts'

const FIELD = /^(?:\*|\d{1,2}(?:-\d{1,2})?(?:,\d{1,2}(?:-\d{1,2})?)*)(?:\/\d{1,2})?$/

/**
 * When GitHub wakes a campaign that nothing else woke. The minute is odd and the spec's own: on the hour everybody's
 * schedules are delayed or dropped.
 */
export function buildCron({ name, schedule }: Pick<Spec, 'name' | 'schedule'>): string {
  const dice = Number.parseInt(hashSha256(name).slice(0, 8), 16)
  const minute = 2 * (dice % 30) + 1
  const hour = Math.floor(dice / 30) % 24
  const day = Math.floor(dice / 720) % 7
  if (schedule === 'hourly') return `${minute} * * * *`
  if (schedule === 'daily') return `${minute} ${hour} * * *`
  if (schedule === 'weekly') return `${minute} ${hour} * * ${day}`
  const fields = schedule.trim().split(/\s+/)
  if (fields.length === 5 && fields.every(field => FIELD.test(field))) return fields.join(' ')
  throw new UserError(`the schedule of ${name} is ${JSON.stringify(schedule)}`, {
    place: { path: 'schedule' },
    fix: 'give hourly, daily, weekly or five fields as in cron, for example "17 3 * * *"',
  })
}
