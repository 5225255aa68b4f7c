/** The version of the format of recordings, which stands in the header of each file. */
export const FORMAT = 1;
