/* dlclose.c - a dlclose that closes nothing, in every program that the sanitizers watch.
 *
 * The Vulkan loader unloads its drivers at the end, and with them goes the only memory that points
 * to what they keep: the leak report then blames an unknown module that no suppression can name. */
__attribute__((visibility("default"))) int dlclose(void *handle);

int dlclose(void *handle) {
    (void)handle;
    return 0;
}
