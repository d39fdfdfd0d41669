/** The branches winnow owns (design section 5), by their short role. */
export interface CampaignRefs {
  optimize: string
  campaign: string
  state: string
  closed: string
  forge: string
  /** Everything below it belongs to experiments. */
  experiments: string
  archive: string
}

export function buildCampaignRefs(prefix: string, spec: string): CampaignRefs {
  return {
    optimize: `refs/heads/${prefix}/${spec}`,
    campaign: `refs/heads/${prefix}-campaign/${spec}`,
    state: `refs/heads/${prefix}-state/${spec}`,
    closed: `refs/heads/${prefix}-closed/${spec}`,
    forge: `refs/heads/${prefix}-forge/${spec}`,
    experiments: `refs/heads/${prefix}-exp/${spec}/`,
    archive: `refs/heads/${prefix}-archive/${spec}/`,
  }
}

export function toShortRef(ref: string): string {
  return ref.replace(/^refs\/heads\//, '')
}
