import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type HandedItems, ITEMS_FILE } from '../judge/handed-on.ts'
import type { ActionEnv } from './inputs.ts'
import type { Outputs } from './runner-protocol.ts'

/** What the job that asks models is to have, for the step that uploads it: that job's token may not fetch it itself. */
export function writeItemsFile(env: ActionEnv, toJudge: HandedItems | null): Outputs {
  if (toJudge === null) return {}
  const room = resolve(env['RUNNER_TEMP'] ?? tmpdir())
  const file = join(mkdtempSync(join(room, 'winnow-items-')), ITEMS_FILE)
  writeFileSync(file, `${JSON.stringify(toJudge)}\n`)
  return { judge: toJudge.campaign, items: file }
}
