import { objectivesOf } from '../decide/objectives.ts'
import { effectText, withoutMetricName } from '../decide/paired/effect-text.ts'
import { plural } from '../decide/wording.ts'
import type { Campaign, Effect } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { type Ruled, specOf } from '../spec/recorded-spec.ts'
import { whyOf } from './sentence.ts'

/** What a landing is reported to bring; beside it, what it was selected by, which flatters. */
export interface ReportedEffect {
  /** null: not measured yet. */
  reported: string | null
  soFar: string | null
}

/** null for what no pairs have proved, or what was taken back since. */
export function reportedEffect(
  campaign: Pick<Campaign, 'landings' | 'calibration'> & Ruled,
  { id, share, primary_delta }: Pick<Experiment, 'id' | 'share' | 'primary_delta'>,
): ReportedEffect | null {
  const landing = campaign.landings.find(({ experiment, reverted }) => experiment === id && reverted === null)
  if (!landing || share === null) return null
  const { effect } = landing
  const scale = effect?.scale ?? campaign.calibration?.scale ?? 'linear'
  const selected = primary_delta === null ? null : { effect: primary_delta, interval: null, scale }
  return {
    reported: effect && `${effectWords(campaign, effect)}, ${plural(effect.pairs, 'pair')}`,
    soFar: selected && effectWords(campaign, selected),
  }
}

/** One reason in every table: once the reported effect is known, what it was selected by stands only beside it. */
export function tableReason(
  campaign: Pick<Campaign, 'landings' | 'calibration'> & Ruled,
  experiment: Pick<Experiment, 'id' | 'share' | 'primary_delta' | 'reason' | 'verdict'>,
): string {
  const effect = reportedEffect(campaign, experiment)
  if (effect?.reported == null) return whyOf(experiment)
  return `reported effect ${effect.reported}${effect.soFar === null ? '' : `; selected by ${effect.soFar}`}`
}

/** The effect of a kept change without its metric's name where that is no news: "77.0 % less CPU (74.0 to 77.8 %)". */
export function effectPhrase(
  campaign: Pick<Campaign, 'landings' | 'calibration'> & Ruled,
  experiment: Pick<Experiment, 'id' | 'share' | 'primary_delta' | 'reason' | 'verdict'>,
): string | null {
  const { name } = specOf(campaign).metric.primary
  const landing = campaign.landings.find(
    ({ experiment: of, reverted }) => of === experiment.id && reverted === null,
  )
  const effect = landing?.effect ?? null
  if (effect !== null) return withoutMetricName(effectWords(campaign, effect), name)
  const selected = reportedEffect(campaign, experiment)?.soFar ?? null
  if (selected !== null)
    return withoutMetricName(
      selected.replace(`${name} `, () => `${name} about `),
      name,
    )
  const said = whyOf(experiment)
    .replaceAll(' -> ', ' → ')
    .replace(/, deterministic.*$/, '')
  return said === '' ? null : withoutMetricName(said, name)
}

function effectWords(
  campaign: Ruled,
  { effect, interval, scale }: Pick<Effect, 'effect' | 'interval' | 'scale'>,
): string {
  const [{ name, direction }] = objectivesOf(specOf(campaign).metric)
  return effectText(effect, interval, { name, direction, scale })
}
