/* Let the k-th write or flush of a file under FAULT_FOLDER fail with EIO, once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count;

static int fails(const char *kind, int file)
{
    const char *folder = getenv("FAULT_FOLDER"), *at = getenv("FAULT_AT");
    const char *which = getenv("FAULT_KIND");
    char link[64], path[4096];
    ssize_t length;
    if (!folder || !at || !which || strcmp(which, kind))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    if (strncmp(path, folder, strlen(folder)) || __sync_add_and_fetch(&count, 1) != atoi(at))
        return 0;
    errno = EIO;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int file) { return fails("flush", file) ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return fails("flush", file) ? -1 : REAL(fdatasync)(file); }

ssize_t write(int file, const void *data, size_t n)
{
    return fails("write", file) ? -1 : REAL(write)(file, data, n);
}

ssize_t pwrite(int file, const void *data, size_t n, off_t place)
{
    return fails("write", file) ? -1 : REAL(pwrite)(file, data, n, place);
}

ssize_t pwrite64(int file, const void *data, size_t n, off64_t place)
{
    return fails("write", file) ? -1 : REAL(pwrite64)(file, data, n, place);
}
