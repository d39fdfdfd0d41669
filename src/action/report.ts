import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { campaignInClone, openJobClone } from '../engine/job-clone.ts'
import { withoutSecrets } from '../measure/secret-names.ts'
import { ledgerViews } from '../report/ledger-views.ts'
import { statusText } from '../report/status-text.ts'
import { statusView } from '../report/status-view.ts'
import { standingNotes } from '../spec/notes.ts'
import { DEFAULT_PREFIX } from '../verbs/known-campaigns.ts'
import type { Task } from './commands.ts'
import { said, setOutputs, summarise } from './runner-protocol.ts'

/** Where a campaign stands, from its events alone: for the job's summary, and as files to upload or to publish. */
export async function reportOnCampaign({ inputs, env }: Task): Promise<number> {
  const room = resolve(env['RUNNER_TEMP'] ?? tmpdir())
  const directory = resolve(env['GITHUB_WORKSPACE'] ?? '.', inputs.directory)
  const clone = { directory, workDir: join(room, 'winnow'), env: withoutSecrets(env) }
  const { repository } = await openJobClone(clone, DEFAULT_PREFIX)
  try {
    const { loaded, spec } = await campaignInClone(repository, inputs.campaign)
    const { campaign } = loaded
    const views = ledgerViews(campaign, spec)
    const dir = mkdtempSync(join(room, 'winnow-views-'))
    for (const [name, text] of Object.entries(views)) writeFileSync(join(dir, name), text)
    // Numbers of pull requests that the ledger lacks are GitHub's to say, and this command asks nobody.
    const status = statusView(campaign, new Map(), standingNotes(spec))
    for (const line of statusText(campaign, status)) console.log(said(line))
    summarise(env, said(views['digest.md'] ?? ''))
    const artifact = `winnow-views-${campaign.name}`
    setOutputs(env, { 'result-json': JSON.stringify(status), report: dir, artifact })
    return 0
  } finally {
    await repository.close()
  }
}
