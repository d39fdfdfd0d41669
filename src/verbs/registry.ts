import { amend } from './amend.ts'
import { approve } from './approve.ts'
import { archive } from './archive.ts'
import { audit } from './audit.ts'
import { avoid } from './avoid.ts'
import { check } from './check.ts'
import { compare } from './compare.ts'
import { completion } from './completion.ts'
import { decide } from './decide.ts'
import { demo } from './demo.ts'
import { doctor } from './doctor.ts'
import { help } from './help.ts'
import { idea } from './idea.ts'
import { init } from './init.ts'
import { log } from './log.ts'
import { measure } from './measure.ts'
import { note } from './note.ts'
import { pause } from './pause.ts'
import { pick } from './pick.ts'
import { priority } from './priority.ts'
import { propose } from './propose.ts'
import { rebuild } from './rebuild.ts'
import { recover } from './recover.ts'
import { replay } from './replay.ts'
import { results } from './results.ts'
import { resume } from './resume.ts'
import { retry } from './retry.ts'

import { revert } from './revert.ts'
import { run } from './run.ts'
import { show } from './show.ts'
import { status } from './status.ts'
import { stop } from './stop.ts'
import { tick } from './tick.ts'
import { tryDiff } from './try.ts'
import { uninstall } from './uninstall.ts'
import type { Verb } from './verb.ts'
import { version } from './version.ts'

/**
 * The one list of verbs: the command line, its help, its page and shell completion are derived from it. Within a
 * group, people read them in this order: first what is done first.
 */
export const VERBS: readonly Verb[] = [
  init,
  check,
  compare,
  tryDiff,
  run,
  demo,
  status,
  show,
  results,
  log,
  approve,
  pause,
  stop,
  tick,
  propose,
  idea,
  measure,
  decide,
  avoid,
  priority,
  retry,
  note,
  amend,
  revert,
  pick,
  resume,
  archive,
  audit,
  replay,
  rebuild,
  recover,
  doctor,
  completion,
  uninstall,
  help,
  version,
]
