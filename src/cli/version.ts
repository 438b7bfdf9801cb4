/** The release, from package.json: the bundler puts it in. */
export { version } from '../../package.json';
