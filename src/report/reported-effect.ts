import { listObjectives } from '../decide/objectives.ts'
import { formatEffect, removeMetricName } from '../decide/paired/effect-text.ts'
import { formatCount } from '../decide/wording.ts'
import type { Campaign, EffectMeasurement } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { type CampaignSpecText, getCampaignSpec } from '../spec/recorded-spec.ts'
import { getPlainReason } from './sentence.ts'

/** What a landing is reported to bring; beside it, what it was selected by, which flatters. */
export interface ReportedEffectText {
  /** null: not measured yet. */
  reported: string | null
  selectedBy: string | null
}

/** null for what no pairs have proved, or what was taken back since. */
export function describeReportedEffect(
  campaign: Pick<Campaign, 'landings' | 'calibration'> & CampaignSpecText,
  { id, share, primary_delta }: Pick<Experiment, 'id' | 'share' | 'primary_delta'>,
): ReportedEffectText | null {
  const landing = campaign.landings.find(({ experiment, reverted }) => experiment === id && reverted === null)
  if (!landing || share === null) return null
  const { effect } = landing
  const scale = effect?.scale ?? campaign.calibration?.scale ?? 'linear'
  const selected = primary_delta === null ? null : { effect: primary_delta, interval: null, scale }
  return {
    reported: effect && `${formatEffectWords(campaign, effect)}, ${formatCount(effect.pairs, 'pair')}`,
    selectedBy: selected && formatEffectWords(campaign, selected),
  }
}

/** One reason in every table: once the reported effect is known, what it was selected by stands only beside it. */
export function describeTableReason(
  campaign: Pick<Campaign, 'landings' | 'calibration'> & CampaignSpecText,
  experiment: Pick<Experiment, 'id' | 'share' | 'primary_delta' | 'reason' | 'verdict'>,
): string {
  const effect = describeReportedEffect(campaign, experiment)
  if (effect?.reported == null) return getPlainReason(experiment)
  return `reported effect ${effect.reported}${effect.selectedBy === null ? '' : `; selected by ${effect.selectedBy}`}`
}

/** The effect of a kept change without its metric's name where that is no news: "77.0 % less CPU (74.0 to 77.8 %)". */
export function describeKeptEffect(
  campaign: Pick<Campaign, 'landings' | 'calibration'> & CampaignSpecText,
  experiment: Pick<Experiment, 'id' | 'share' | 'primary_delta' | 'reason' | 'verdict'>,
): string | null {
  const { name } = getCampaignSpec(campaign).metric.primary
  const landing = campaign.landings.find(
    ({ experiment: of, reverted }) => of === experiment.id && reverted === null,
  )
  const effect = landing?.effect ?? null
  if (effect !== null) return removeMetricName(formatEffectWords(campaign, effect), name)
  const selected = describeReportedEffect(campaign, experiment)?.selectedBy ?? null
  if (selected !== null)
    return removeMetricName(
      selected.replace(`${name} `, () => `${name} about `),
      name,
    )
  const said = getPlainReason(experiment)
    .replaceAll(' -> ', ' → ')
    .replace(/, deterministic.*$/, '')
  return said === '' ? null : removeMetricName(said, name)
}

function formatEffectWords(
  campaign: CampaignSpecText,
  { effect, interval, scale }: Pick<EffectMeasurement, 'effect' | 'interval' | 'scale'>,
): string {
  const [{ name, direction }] = listObjectives(getCampaignSpec(campaign).metric)
  return formatEffect(effect, interval, { name, direction, scale })
}
