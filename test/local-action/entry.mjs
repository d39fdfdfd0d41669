// local-action calls `run` of the file that it is given. GitHub's runner starts the bundle of action.yml as a program, and so
// does this: what runs is the very file that people get.
export async function run() {
  await import('../../dist/action.js')
}
