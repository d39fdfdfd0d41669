import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withJobClone } from '../engine/jobs/job-clone.ts'
import { removeSecrets } from '../measure/environment.ts'
import { renderLedgerViews } from '../report/ledger-views.ts'
import { buildStatusView, renderStatus } from '../report/status.ts'
import { listStatusNotes } from '../spec/notes.ts'
import { resolveInWorkspace } from './inputs.ts'
import { getTempDir } from './job.ts'
import { appendSummary, setOutputs, toLogLine } from './outputs.ts'
import type { Task } from './root-pipe.ts'

/** Reports the campaign from its ledger alone: in the job's summary, and as files to upload. */
export async function reportCampaign({ inputs, env }: Task): Promise<number> {
  const tempDir = getTempDir(env)
  const directory = resolveInWorkspace(env, inputs.directory)
  const clone = {
    directory,
    workDir: join(tempDir, 'winnow'),
    env: removeSecrets(env),
    campaign: inputs.campaign,
  }
  return withJobClone(clone, async ({ loaded: { campaign }, spec }) => {
    const views = renderLedgerViews(campaign, spec)
    const dir = mkdtempSync(join(tempDir, 'winnow-views-'))
    for (const [name, text] of Object.entries(views)) writeFileSync(join(dir, name), text)
    // Only GitHub knows the missing numbers of pull requests, and this command sends no requests.
    const status = buildStatusView(campaign, new Map(), listStatusNotes(spec))
    for (const line of renderStatus(campaign, status)) console.log(toLogLine(line))
    appendSummary(toLogLine(views['digest.md'] ?? ''))
    const artifact = `winnow-views-${campaign.name}`
    setOutputs({ 'result-json': JSON.stringify(status), report: dir, artifact })
    return 0
  })
}
