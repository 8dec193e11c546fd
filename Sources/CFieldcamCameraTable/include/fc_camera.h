// What a camera library offers: a table of functions that a program gets from one exported symbol. The libraries are built
// once per libcamera generation and opened with dlopen, so that the program itself never links libcamera.
//
// Errors are negative errno. Where a function takes `error`, it leaves one sentence there (always ended by a zero byte) when
// it fails. No function throws; none of them calls back.
//
// Threads. *Camera thread*: one thread at a time, may block for a second or more. *Director*: one thread, never blocks,
// between `start` and `stop` only. What libcamera completes on its own thread is written into a ring of fixed records and
// told through an eventfd; nothing of the program ever runs on libcamera's thread.
#ifndef FC_CAMERA_H
#define FC_CAMERA_H

#include <stddef.h>
#include <stdint.h>

// A board may build its camera library with a compiler that doesn't know these words.
#if !defined(__clang__) && !defined(_Nonnull)
#define _Nonnull
#define _Nullable
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Raised by every change of this header; a library of another version is refused.
#define FC_CAMERA_TABLE_VERSION 4
/// The exported symbol: a `fc_camera_table_function`.
#define FC_CAMERA_TABLE_SYMBOL "fc_camera_table_of_library"
/// Most buffers of a camera: one bit each in the program's masks.
#define FC_CAMERA_MAXIMUM_BUFFERS 64

/// One camera, held.
typedef struct fc_camera fc_camera;
/// The mapped memory of one configuration's buffers.
typedef struct fc_camera_memory fc_camera_memory;

enum fc_camera_format {
	/// Y, U, V, each a plane.
	FC_CAMERA_YUV420 = 0,
	/// Y, then U and V interleaved.
	FC_CAMERA_NV12 = 1,
	/// Bytes R, G, B in memory.
	FC_CAMERA_BGR888 = 2,
	/// Bytes B, G, R in memory.
	FC_CAMERA_RGB888 = 3,
};

enum fc_camera_colour {
	FC_CAMERA_SYCC = 0,
	FC_CAMERA_SMPTE170M = 1,
	FC_CAMERA_REC709 = 2,
	FC_CAMERA_SRGB = 3,
};

/// What is asked of a camera. Sizes in pixels.
typedef struct fc_camera_wish {
	/// 0 × 0: the size that the pipeline itself gives to stills.
	uint32_t still_width, still_height;
	uint32_t video_width, video_height;
	/// Frames a second, above 0.
	double framerate;
	/// 1: one stream in the role of stills, of the still size; the video size doesn't count.
	uint32_t only_still;
	/// Buffers wanted of each stream, 1 … FC_CAMERA_MAXIMUM_BUFFERS.
	uint32_t buffers;
	/// The device of a dma heap to allocate from, such as "/dev/dma_heap/vidbuf_cached"; without one, or if it can't give the
	/// memory, libcamera allocates. Read during the call only.
	const char *_Nullable heap;
} fc_camera_wish;

/// One stream as it came out.
typedef struct fc_camera_stream {
	uint32_t width, height;
	/// enum fc_camera_format, enum fc_camera_colour.
	uint32_t format, colour;
	/// Planes used, 1 … 3; offsets in bytes from the image's address, strides in bytes.
	uint32_t planes;
	uint32_t offset[3];
	uint32_t stride[3];
	/// Bytes that can be read from the image's address.
	uint32_t bytes;
} fc_camera_stream;

/// Controls, one bit each: what a camera advertises, and what a record of controls sets.
enum fc_camera_control {
	FC_CAMERA_CROP = 1 << 0,
	/// Focus modes; a window and a pause come with them where the camera has those.
	FC_CAMERA_FOCUS_MODE = 1 << 1,
	FC_CAMERA_FOCUS_WINDOW = 1 << 2,
	FC_CAMERA_FOCUS_SCAN = 1 << 3,
	FC_CAMERA_FOCUS_PAUSE = 1 << 4,
	FC_CAMERA_FOCUS_SPEED = 1 << 5,
	FC_CAMERA_LENS_POSITION = 1 << 6,
	FC_CAMERA_EXPOSURE_VALUE = 1 << 7,
	FC_CAMERA_METERING = 1 << 8,
	FC_CAMERA_EXPOSURE_TIME = 1 << 9,
	FC_CAMERA_GAIN = 1 << 10,
	FC_CAMERA_FRAME_DURATION = 1 << 11,
	FC_CAMERA_LONG_EXPOSURE = 1 << 12,
	FC_CAMERA_DENOISE = 1 << 13,
	FC_CAMERA_NIGHT = 1 << 14,
};

enum fc_camera_focus_mode {
	FC_CAMERA_FOCUS_MANUAL = 0,
	FC_CAMERA_FOCUS_ONE_SHOT = 1,
	FC_CAMERA_FOCUS_CONTINUOUS = 2,
};

enum fc_camera_metering {
	FC_CAMERA_CENTRE = 0,
	FC_CAMERA_SPOT = 1,
	FC_CAMERA_MATRIX = 2,
};

/// A part of the field, in fractions of its width and height from its top left.
typedef struct fc_camera_part {
	double x, y, width, height;
} fc_camera_part;

/// Controls for one request. Only those whose bit is in `set` count; a bit that the camera doesn't advertise is left out.
typedef struct fc_camera_controls {
	/// enum fc_camera_control.
	uint32_t set;
	fc_camera_part crop;
	/// Width 0: the camera's own choice.
	fc_camera_part focus_window;
	/// enum fc_camera_focus_mode.
	int32_t focus_mode;
	/// 1: stay where it is, 0: go on.
	int32_t focus_pause;
	/// 1: the slower, calmer speed.
	int32_t focus_slow;
	/// Dioptres.
	double lens_position;
	/// EV.
	double exposure_value;
	/// enum fc_camera_metering.
	int32_t metering;
	/// 0 or less: automatic.
	int64_t exposure_ns;
	double gain;
	/// Shortest and longest frame.
	int64_t shortest_frame_ns, longest_frame_ns;
	int32_t long_exposure, denoises_most, night;
} fc_camera_controls;

/// A range; `from` above `to`: not known.
typedef struct fc_camera_range {
	double from, to;
} fc_camera_range;

/// What a configured camera does.
typedef struct fc_camera_mode {
	/// 1: one stream serves photos and clips. 2: the first is for stills, the second for video.
	uint32_t streams;
	fc_camera_stream stream[2];
	/// Buffers of each stream, and so requests: numbered from 0.
	uint32_t buffers;
	/// Degrees clockwise that make the picture upright (0, 90, 180, 270), after mirroring it where `mirror` is 1.
	uint32_t rotation, mirror;
	/// 1 if the pipeline advertises a frame rate control; whether it keeps to it, only its frames tell.
	uint32_t has_framerate;
	/// 1 if it advertises a focus mode.
	uint32_t has_focus;
	/// 1 if the buffers come from the heap of the wish.
	uint32_t uses_heap;
	/// Nanoseconds from frame to frame: the wish, within the advertised limits.
	int64_t frame_interval_ns;
	/// What it advertises: enum fc_camera_control.
	uint32_t controls;
	/// Dioptres; nanoseconds; analogue gain; nanoseconds.
	fc_camera_range lens_position, exposure, gain, frame;
	/// The field in sensor pixels; 0: not told.
	uint32_t field_width, field_height;
	/// 1 if this pipeline is known to report the scene's lux, and whether exposure settled.
	uint32_t reports_lux, reports_exposure_state;
} fc_camera_mode;

enum fc_camera_record_kind {
	/// A good frame.
	FC_CAMERA_FRAME = 1,
	/// A frame with an error status, or one of the sensor's start-up frames.
	FC_CAMERA_FRAME_FAILED = 2,
	/// A request was cancelled while the camera ran: the hardware timed out or went away.
	FC_CAMERA_CANCELLED = 3,
	/// The camera was unplugged; carries no buffer.
	FC_CAMERA_DISCONNECTED = 4,
};

/// What came of one request. Unknown figures are -1 (whole numbers) or NaN.
typedef struct fc_camera_record {
	/// enum fc_camera_record_kind.
	uint32_t kind;
	/// The request's buffers.
	uint32_t buffer;
	/// The pipeline's count of frames.
	uint64_t sequence;
	/// End of the first row's exposure, on the pipeline's clock (monotonic or boot time).
	int64_t sensor_ns;
	/// When the request completed, CLOCK_MONOTONIC.
	int64_t arrived_ns;
	int64_t exposure_ns;
	/// Analogue times digital gain.
	double gain;
	double lux;
	/// Dioptres.
	double lens_position;
	/// 0 idle, 1 scanning, 2 focused, 3 failed.
	int32_t focus;
	/// 1 settled, 0 not.
	int32_t exposure_settled;
	/// The part of the field that it shows; width 0: not known.
	fc_camera_part crop;
} fc_camera_record;

/// One camera of the machine, for lists. Texts are cut to fit.
typedef struct fc_camera_listing {
	char id[160];
	char model[64];
	/// "back", "front", "external", or "" where it isn't told.
	char location[16];
} fc_camera_listing;

typedef struct fc_camera_table {
	/// FC_CAMERA_TABLE_VERSION.
	uint32_t version;
	/// The libcamera that is loaded, such as "v0.4.0"; lives as long as the library.
	const char *_Nonnull library_version;

	/// Any thread, while no camera of this process is held on another. How many cameras there are; at most `capacity` of
	/// them are written.
	int (*_Nonnull list)(fc_camera_listing *_Nullable listings, size_t capacity, char *_Nonnull error, size_t error_size);

	/// Camera thread. Finds and acquires the camera that `match` names: "location:back|front|external", "id:…", "model:…",
	/// "index:N". -ENODEV: no such camera; -EACCES: the devices may not be opened; -EBUSY: another program, or this one,
	/// holds it; -EINVAL: no such kind of match.
	/// `event` is an eventfd that stays the caller's and must outlive the camera. The camera belongs to the caller until `close`.
	int (*_Nonnull open)(
		const char *_Nonnull match, int event, fc_camera *_Nullable *_Nonnull camera, char *_Nonnull error, size_t error_size);
	/// Camera thread, not while running. Chooses streams, allocates and maps. `memory` belongs to the caller until
	/// `unmap`; it stays readable after `stop`, another `configure` and `close`.
	int (*_Nonnull configure)(
		fc_camera *_Nonnull camera, const fc_camera_wish *_Nonnull wish, fc_camera_mode *_Nonnull mode,
		fc_camera_memory *_Nullable *_Nonnull memory, char *_Nonnull error, size_t error_size);
	/// Camera thread. Begins streaming, the first frame with these controls already; no request is queued yet. Controls
	/// are read during the call only.
	int (*_Nonnull start)(
		fc_camera *_Nonnull camera, const fc_camera_controls *_Nonnull controls, char *_Nonnull error, size_t error_size);
	/// Camera thread. All requests come back and all records are gone when it returns. Idempotent.
	void (*_Nonnull stop)(fc_camera *_Nonnull camera);
	/// Camera thread. Stops, gives the camera back and frees it.
	void (*_Nonnull close)(fc_camera *_Nonnull camera);

	/// libcamera's model of the camera, or its id; lives as long as the camera.
	const char *_Nonnull (*_Nonnull model)(const fc_camera *_Nonnull camera);

	/// Camera thread. The sensor's pixels; 0 × 0 where they aren't told. Returns 1 if its frames need contiguous memory where
	/// the machine has such: the pipelines of Raspberry Pis.
	int (*_Nonnull pixels)(const fc_camera *_Nonnull camera, uint32_t *_Nonnull width, uint32_t *_Nonnull height);

	/// Director (and camera thread right after `start`). Queues a request, with changed controls if there are any: they are
	/// read during the call only. The buffer belongs to the camera until its record is taken or `stop` returns.
	int (*_Nonnull queue)(fc_camera *_Nonnull camera, uint32_t buffer, const fc_camera_controls *_Nullable controls);
	/// Director. Takes the next record; 0: there is none. The buffer is the caller's again, but must not be queued at
	/// once: some pipelines still walk the request that they have just completed.
	int (*_Nonnull take)(fc_camera *_Nonnull camera, fc_camera_record *_Nonnull record);

	/// Any thread. Where the image of a buffer and stream lies; valid until `unmap`.
	void *_Nonnull (*_Nonnull image)(const fc_camera_memory *_Nonnull memory, uint32_t buffer, uint32_t stream);
	/// Director. Brackets reading by the CPU where caches ask for it: `begin` 1 before reading, 0 before queueing again.
	void (*_Nonnull synchronise)(const fc_camera_memory *_Nonnull memory, uint32_t buffer, int begin);
	/// Any thread, once nobody reads it any more.
	void (*_Nonnull unmap)(fc_camera_memory *_Nonnull memory);
} fc_camera_table;

typedef const fc_camera_table *_Nonnull (*fc_camera_table_function)(void);

#ifdef __cplusplus
}
#endif
#endif
