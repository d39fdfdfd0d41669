import { amend } from './amend.ts'
import { archive } from './archive.ts'
import { audit } from './audit.ts'
import { check } from './check.ts'
import { decide } from './decide.ts'
import { help } from './help.ts'
import { log } from './log.ts'
import { measure } from './measure.ts'
import { note } from './note.ts'
import { pause } from './pause.ts'
import { propose } from './propose.ts'
import { replay } from './replay.ts'
import { resume } from './resume.ts'
import { revert } from './revert.ts'
import { run } from './run.ts'
import { show } from './show.ts'
import { status } from './status.ts'
import { stop } from './stop.ts'
import { tick } from './tick.ts'
import type { Verb } from './verb.ts'
import { version } from './version.ts'

/** The one list of verbs: the command line, its help and its checks are derived from it. */
export const VERBS: readonly Verb[] = [
  check,
  run,
  tick,
  propose,
  measure,
  decide,
  status,
  log,
  show,
  note,
  amend,
  revert,
  pause,
  resume,
  stop,
  archive,
  audit,
  replay,
  help,
  version,
]
