import { openCampaignClient } from '../support/campaign-client.ts'

/** Runs a campaign in a process of its own: `node run-process.mjs <checkout> <cache> <remote or nothing> <campaign>`. */
const [directory = '', cacheDir = '', remote = '', name = ''] = process.argv.slice(2)
const client = await openCampaignClient({ directory, cacheDir, remote: remote === '' ? null : remote, name })
const started = await client.start()
const waiting = await client.run()
await client.close()
process.stdout.write(JSON.stringify({ started, waiting }))
