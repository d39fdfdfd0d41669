import { openPost } from './post.ts'

/** One hand of several, a process of its own: `node hand.mjs <checkout> <cache> <remote or ''> <campaign>`. */
const [directory = '', cacheDir = '', remote = '', name = ''] = process.argv.slice(2)
const post = await openPost({ directory, cacheDir, remote: remote === '' ? null : remote, name })
const started = await post.start()
const waiting = await post.run()
await post.close()
process.stdout.write(JSON.stringify({ started, waiting }))
