import { formatCount } from '../decide/wording.ts'

export interface AuditFindings {
  ok: boolean
  campaign: string
  checked: Readonly<Record<string, number>>
  problems: readonly { what: string }[]
  unproven: { what: string } | null
  open: readonly { what: string }[]
  continuity: string | null
  limits: string
}

export interface ReplayFindings {
  ok: boolean
  decisions: number
  rounds: number
  differences: readonly {
    seq: number
    experiment: string | null
    field: string
    recorded: unknown
    recomputed: unknown
  }[]
}

export function renderAudit(found: AuditFindings): string[] {
  const counts = Object.entries(found.checked).map(([name, count]) =>
    name.endsWith('s') ? formatCount(count, name.slice(0, -1)) : `${count} ${name}`,
  )
  const result = found.ok ? 'no problem' : formatCount(found.problems.length, 'problem')
  return [
    `Audit of ${found.campaign}: ${result}. Checked ${counts.join(', ')}.`,
    ...(found.unproven === null ? [] : [`First without evidence: ${found.unproven.what}`]),
    ...found.problems
      .filter(({ what }) => what !== found.unproven?.what)
      .map(({ what }) => `  problem: ${what}`),
    ...found.open.map(({ what }) => `  open: ${what}`),
    ...(found.continuity === null ? [] : [found.continuity]),
    found.limits,
  ]
}

export function renderReplay(campaign: string, found: ReplayFindings): string[] {
  const result = found.ok ? 'no difference' : formatCount(found.differences.length, 'difference')
  return [
    `Replay of ${campaign}: ${formatCount(found.decisions, 'verdict')} in ${formatCount(found.rounds, 'round')}, ${result}.`,
    ...found.differences.map(
      ({ seq, experiment, field, recorded, recomputed }) =>
        `  event ${seq}${experiment === null ? '' : ` ${experiment}`}: ${field} is recorded as ${formatJsonValue(recorded)}, computed as ${formatJsonValue(recomputed)}`,
    ),
  ]
}

function formatJsonValue(value: unknown): string {
  return JSON.stringify(value) ?? 'nothing'
}
