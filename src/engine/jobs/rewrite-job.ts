import { getLearningRate } from '../../decide/epochs.ts'
import { UserError } from '../../errors.ts'
import { createWebFetch } from '../../github/web.ts'
import type { AgentResult } from '../../ideas/agent.ts'
import { renderDefects } from '../../ideas/defects.ts'
import { commitPatchedTree } from '../../ideas/patch.ts'
import type { PriorResult } from '../../ideas/prior-results.ts'
import { askTextGradient } from '../../ideas/text-gradient.ts'
import { openBudget } from '../../judge/budget.ts'
import { createChatModels } from '../../judge/chat-model.ts'
import { readModelAccess } from '../../judge/model-access.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { Point } from '../../model/ids.ts'
import type { ModelCost } from '../../model/report.ts'
import { formatExpectation } from '../../report/epochs.ts'
import type { Spec } from '../../spec/schema.ts'
import { readArtifactTexts, replaceArtifact } from '../campaign/artifacts.ts'
import type { CampaignContext } from '../campaign/context.ts'

type RewriteContext = Pick<CampaignContext, 'repository' | 'clock' | 'random' | 'env'>

interface RewriteRequest {
  campaign: Campaign
  spec: Spec
  base: Point
  /** Results of archived and other campaigns. */
  earlier: readonly PriorResult[]
  /** Null: no cap. */
  mayCostUsd: number | null
  signal: AbortSignal
}

export interface AskedRewrite {
  result: AgentResult
  /** Paid also where the answer has no idea. */
  cost: ModelCost
  /** Set if no model could be asked, which a person has to change. */
  error?: UserError
}

/** Asks a model to rewrite one artifact, and commits the best rewrite. */
export async function askForRewrite(
  { repository, clock, random, env }: RewriteContext,
  { campaign, spec, base, earlier, mayCostUsd, signal }: RewriteRequest,
): Promise<AskedRewrite> {
  const proposer = spec.propose.find(each => each.use === 'textgrad')
  if (proposer === undefined)
    return {
      result: { ok: false, reason: 'the spec has no textgrad' },
      cost: { requests: 0, tokens: 0, usd: 0 },
    }
  const all = await readArtifactTexts(repository, spec, base.tree)
  const artifacts =
    proposer.artifacts.length === 0 ? all : all.filter(({ name }) => proposer.artifacts.includes(name))
  const learningRate = getLearningRate(campaign, spec)
  const web = createWebFetch(env)
  const settings = { env, models: spec.models, web }
  const { endpoint, key, model, price } = await readModelAccess(settings, proposer.model)
  const budget = openBudget({ model, capUsd: mayCostUsd, price })
  const models = createChatModels({ endpoint, key, budget, clock, random, web })
  const defects = renderDefects(campaign, spec, earlier)
  const gradient = await askTextGradient({ artifacts, defects, learningRate, model, models, signal })
  const { requests, tokens, usd } = models.usage()
  const cost = { requests, tokens, usd: usd ?? 0 }
  if (!gradient.ok) {
    const { ok, reason, isUnasked } = gradient
    return { result: { ok, reason }, cost, ...(isUnasked ? { error: toUnaskedError(reason) } : {}) }
  }
  const { rewrite, rejected } = gradient
  const path = artifacts.find(({ name }) => name === rewrite.artifact)?.path ?? ''
  const blob = await repository.writeBlob(rewrite.content)
  const tree = await replaceArtifact(repository, base.tree, { path, blob })
  const message = `${rewrite.rationale}\n\nWinnow-Source: ${proposer.use}`
  const commit = await commitPatchedTree(repository, base, tree, message)
  const idea = {
    hypothesis: rewrite.rationale,
    category: rewrite.artifact,
    priority: 'medium' as const,
    required_deps: [],
    family: null,
  }
  const learnings = [
    formatExpectation({ ...rewrite, learningRate }),
    ...rejected.map(why => `Rejected: ${why}`),
  ]
  return { result: { ok: true, idea, learnings: learnings.join('\n'), commit, base }, cost }
}

function toUnaskedError(reason: string): UserError {
  return new UserError(`no model could be asked for a rewrite: ${reason}`, {
    fix: 'fix that, then run again: measurements and costs so far are kept',
  })
}
